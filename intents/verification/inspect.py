"""Explain why a request is rejected, check by check. Nothing is stored, and no nonce is used up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from affidavit import REASONS, Check, Reason, StoreUnavailable
from intents.verification.payload_fields import PayloadField, list_payload_fields
from intents.verification.received_request import ReceivedRequest
from intents.verification.verify import build_verifier
from wire.errors import Unavailable
from workspaces.models import Environment
from workspaces.secrets.decrypt import load_secrets_of


@dataclass(frozen=True)
class Inspection:
    """All checks in their order. `reason` belongs to the first failed check; it is None if the request passes.

    received_at: the time that the checks compared with.
    fields: the members of the payload, empty if the header cannot be read.
    is_proven: whether a secret signed them that the workspace had at that time.
    """

    checks: Sequence[Check]
    reason: Reason | None
    received_at: datetime
    fields: Sequence[PayloadField]
    is_proven: bool

    @property
    def failed_position(self) -> int:
        """Return the position of the first failed check, from 1, at which a verifier stops; 0 if none failed."""
        positions = (number for number, check in enumerate(self.checks, 1) if check.state == "failed")
        return next(positions, 0)

    @property
    def failed_check(self) -> str:
        """Return the name of the first failed check, "" if none failed."""
        return self.checks[self.failed_position - 1].name if self.failed_position else ""

    @property
    def later_failures(self) -> int:
        """Return how many checks after the first failed check would fail too."""
        return max(0, sum(check.state == "failed" for check in self.checks) - 1)

    @property
    def not_reached(self) -> int:
        """Return how many checks could not be run, because an earlier check failed."""
        return sum(check.state == "not-reached" for check in self.checks)


def inspect_request(environment: Environment, request: ReceivedRequest, *, received_at: datetime) -> Inspection:
    """Check a request as of the moment of its receipt, without using up its nonce.

    Raises Unavailable if the nonce cannot be looked up.
    """
    try:
        secrets = load_secrets_of(environment.workspace, received_at)
        checks = build_verifier(environment, secrets, now=received_at).explain(**request.verifier_arguments())
    except StoreUnavailable:
        raise Unavailable from None
    slug = next((check.reason for check in checks if check.reason), None)
    is_proven = any(check.name == "signature" and check.state == "passed" for check in checks)
    fields = list_payload_fields(request.header)
    return Inspection(checks, REASONS[slug] if slug else None, received_at, fields, is_proven)
