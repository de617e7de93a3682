"""Read, for each environment, what became of calls since the present secret signs them, and before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Sum

from intents.gate.mint import LIFETIME_SECONDS
from intents.rejections.outage import Outage
from intents.rejections.read_outage import (
    count_results_before,
    find_last_accepted,
    read_outage,
    sum_rejections_since,
)
from workspaces.models import Environment, SecretUse, SigningSecret, Workspace
from workspaces.secrets.rotate import find_signer

REASON = "bad-signature"  # of every intent whose secret the backend does not have
IN_FLIGHT = timedelta(seconds=LIFETIME_SECONDS + 60)  # intents of the previous secret are accepted for so long


@dataclass(frozen=True)
class SigningResult:
    """What became of calls of one environment since a secret signs them.

    accepted: calls that backends verified with the secret; None if calls were accepted, but with which secret was not
        reported.
    rejected: calls that were rejected as `bad-signature`.
    rejected_before, verified_before: the same and all verified calls of the seven days before.
    outage: the outage that began with the secret, if there is one.
    """

    environment: Environment
    secret: SigningSecret
    accepted: int | None
    rejected: int
    rejected_before: int
    verified_before: int
    outage: Outage | None


def read_signing_results(workspace: Workspace, *, now: datetime) -> Sequence[SigningResult]:
    """Return the results of each environment that has any since the present secret signs."""
    signer = find_signer(workspace, now=now)
    if signer is None or signer.signs_from is None:
        return []
    results = [
        _read_result(environment, signer, signer.signs_from, now) for environment in workspace.environments.all()
    ]
    return [result for result in results if result.accepted != 0 or result.rejected]


def find_unknown_secret(environment: Environment, outage: Outage, *, now: datetime) -> SigningSecret | None:
    """Return the secret that the backend seems to lack: since it signs, calls are rejected for their signature."""
    signer = find_signer(environment.workspace, now=now)
    if signer is None or signer.signs_from is None or outage.reason != REASON:
        return None
    is_since_signer = outage.since is None or outage.since <= signer.signs_from + IN_FLIGHT
    is_known = SecretUse.objects.filter(environment=environment, secret=signer).exists()
    return signer if is_since_signer and outage.last_at >= signer.signs_from and not is_known else None


def _read_result(environment: Environment, signer: SigningSecret, signs_from: datetime, now: datetime) -> SigningResult:
    uses = SecretUse.objects.filter(environment=environment)
    accepted = uses.filter(secret=signer).aggregate(sum=Sum("count"))["sum"]
    last_accepted, arrival = find_last_accepted(environment), signs_from + IN_FLIGHT
    is_reported = last_accepted is None or last_accepted <= arrival or uses.filter(last_at__gt=arrival).exists()
    before = count_results_before(environment, signs_from)
    outage = read_outage(environment, now=now)
    return SigningResult(
        environment,
        signer,
        int(accepted or 0) if accepted or is_reported else None,
        sum_rejections_since(environment, signs_from, now=now).counts[REASON],
        before[REASON],
        before.total(),
        outage if outage and find_unknown_secret(environment, outage, now=now) else None,
    )
