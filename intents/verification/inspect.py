"""Explain why a request would be rejected, check by check. Nothing is stored, and no nonce is used up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from affidavit import REASONS, Check, Reason, StoreUnavailable
from intents.verification.received_request import ReceivedRequest
from intents.verification.verify import build_verifier
from wire.errors import Unavailable
from workspaces.models import Environment


@dataclass(frozen=True)
class Inspection:
    """All checks in their order; `reason` is that of the failed check, None if the request would pass."""

    checks: Sequence[Check]
    reason: Reason | None

    @property
    def reached(self) -> int:
        """How many checks were run."""
        return sum(check.state != "not-reached" for check in self.checks)

    @property
    def not_reached(self) -> int:
        """How many checks come after the one that failed."""
        return len(self.checks) - self.reached


def inspect_request(environment: Environment, request: ReceivedRequest, *, now: datetime) -> Inspection:
    """Check a request without using its intent up. Raises Unavailable where the nonce cannot be looked up."""
    try:
        checks = build_verifier(environment, now=now).explain(**request.verifier_arguments())
    except StoreUnavailable:
        raise Unavailable from None
    slug = next((check.reason for check in checks if check.reason), None)
    return Inspection(checks, REASONS[slug] if slug else None)
