"""Why would this call be rejected? Every check with both its sides; nothing is stored, no nonce is burnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from affidavit import REASONS, Check, Reason, StoreUnavailable
from intents.verification.received_request import Presented
from intents.verification.verifier import verifier_of
from wire.errors import Unavailable
from workspaces.models import Environment


@dataclass(frozen=True)
class Inspection:
    """All checks in their order; `reason` is that of the one that failed, None if the call would pass."""

    checks: Sequence[Check]
    reason: Reason | None

    @property
    def reached(self) -> int:
        return sum(check.state != "not-reached" for check in self.checks)

    @property
    def not_reached(self) -> int:
        return len(self.checks) - self.reached


def inspect(environment: Environment, presented: Presented, *, now: datetime) -> Inspection:
    """Raises Unavailable where a nonce cannot be looked up."""
    try:
        checks = verifier_of(environment, now=now).explain(**presented.arguments())
    except StoreUnavailable:
        raise Unavailable from None
    slug = next((check.reason for check in checks if check.reason), None)
    return Inspection(checks, REASONS[slug] if slug else None)
