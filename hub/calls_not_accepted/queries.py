"""Why no call is accepted any more, or no call that the present secret signed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hub.settings_pages.rotation_results import REASON, SigningResult, read_unknown_secret
from intents.rejections.call_outage.call_outage_rule import CallOutage
from intents.rejections.call_outage.read_call_outage import read_call_outage
from wire.time.period import Period
from workspaces.models import Environment, SigningSecret
from workspaces.secrets.rotate import find_signer

CALL_OUTAGE_COLUMNS = ("lastAcceptedAt", "rejections", "mainReason", "withMainReason", "lastAt")


@dataclass(frozen=True)
class CallsNotAccepted:
    """Why calls are not accepted. A cause is left out if its last rejection is not in the period.

    outage: none of the latest calls was accepted. It is left out if `unknown_secret` says so already.
    unknown_secret: no call that the present secret signed was accepted. The page of signing secrets says so, too.
    first_secret: the secret that signs, if no call was ever accepted and `bad-signature` is the most frequent reason.
    """

    outage: CallOutage | None = None
    unknown_secret: SigningResult | None = None
    first_secret: SigningSecret | None = None

    def tells(self, reason: str) -> bool:
        """Return whether a cause already names this reason of rejections."""
        is_of_secret = self.unknown_secret is not None and reason == REASON
        return is_of_secret or (self.outage is not None and reason == self.outage.reason)


def read_calls_not_accepted(environment: Environment, period: Period, *, now: datetime) -> CallsNotAccepted:
    """Read why calls are not accepted; every cause is None if they are."""
    outage = read_call_outage(environment, now=now)
    if outage and not _is_in(period, outage.last_at):
        outage = None
    if outage and outage.since is None:  # the outage says more: no call was accepted yet, with any secret
        is_of_secret = outage.reason == REASON
        return CallsNotAccepted(outage, first_secret=find_signer(environment.workspace) if is_of_secret else None)
    unknown_secret = read_unknown_secret(environment, now=now)
    if unknown_secret is None or not _is_in(period, unknown_secret.last_rejected_at):
        return CallsNotAccepted(outage)
    return CallsNotAccepted(outage if outage and outage.reason != REASON else None, unknown_secret)


def list_call_outage_rows(not_accepted: CallsNotAccepted) -> Iterator[Sequence[Any]]:
    """Yield the row of the outage, if there is one, in the order of CALL_OUTAGE_COLUMNS."""
    if outage := not_accepted.outage:
        yield outage.since, outage.rejections, outage.reason, outage.reason_count, outage.last_at


def _is_in(period: Period, last_at: datetime | None) -> bool:
    return last_at is not None and period.start <= last_at and (period.is_current or last_at < period.end)
