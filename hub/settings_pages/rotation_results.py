"""Read, for each environment, what became of calls before and after the present secret began to sign them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Sum

from hub.settings_pages.unknown_secret import CallsOfSecret, seems_unknown
from intents.gate.mint import LIFETIME_SECONDS
from intents.rejections.call_outage.read_call_outage import (
    count_results_before,
    find_last_accepted,
    sum_rejections_since,
)
from intents.rejections.tallies.first_and_last_verifications import find_last_verifications
from wire.time.timestamps import cut_to_second
from workspaces.models import Environment, SecretUse, SigningSecret, Workspace
from workspaces.secrets.rotate import find_signer

REASON = "bad-signature"  # of every intent whose secret the backend does not have
IN_FLIGHT = timedelta(seconds=LIFETIME_SECONDS + 60)  # how long after a rotation intents of the previous secret arrive
RESULT_COLUMNS = (
    *("environment", "secretId", "signsFrom", "accepted", "badSignatures", "badSignaturesBefore"),
    *("verificationsBefore", "noneAcceptedSince"),
)


@dataclass(frozen=True)
class SigningResult:
    """What became of calls of one environment since a secret began to sign them.

    signs_from: the second in which the secret began to sign. Reports carry whole seconds, so the whole second counts.
    last_rejected_at: when the last of them was rejected as `bad-signature`; None if none was.
    """

    environment: Environment
    secret: SigningSecret
    signs_from: datetime
    calls: CallsOfSecret
    last_rejected_at: datetime | None

    @property
    def is_unknown(self) -> bool:
        """Return whether no backend of the environment seems to have the secret."""
        return seems_unknown(self.calls)

    def list_cells(self) -> Sequence[Any]:
        """Return the cells of an export, in the order of RESULT_COLUMNS."""
        return (self.environment.name, self.secret.prefix, self.signs_from, *self.calls, self.is_unknown)


def read_signing_results(workspace: Workspace, *, now: datetime) -> Sequence[SigningResult]:
    """Return the results of each environment that has any since the present secret began to sign."""
    signer = find_signer(workspace)
    if signer is None or signer.signs_from is None:
        return []
    signs_from = cut_to_second(signer.signs_from)
    environments = _list_environments_with_calls(workspace, signer, signs_from)
    results = [_read_result(environment, signer, signs_from, now) for environment in environments]
    return [result for result in results if result.calls.accepted != 0 or result.calls.rejected]


def read_unknown_secret(environment: Environment, *, now: datetime) -> SigningResult | None:
    """Return the result of an environment whose backend seems to lack the secret that signs; None for any other."""
    signer = find_signer(environment.workspace)
    if signer is None or signer.signs_from is None:
        return None
    if SecretUse.objects.filter(environment=environment, secret=signer).exists():
        return None
    result = _read_result(environment, signer, cut_to_second(signer.signs_from), now)
    return result if result.is_unknown else None


def _list_environments_with_calls(
    workspace: Workspace, signer: SigningSecret, signs_from: datetime
) -> Sequence[Environment]:
    """Return the environments with a verification since the secret began to sign. The others have no result."""
    environments = list(workspace.environments.all())
    last_verifications = find_last_verifications([environment.pk for environment in environments])
    with_uses = set(SecretUse.objects.filter(secret=signer).values_list("environment_id", flat=True))
    with_calls = {pk for pk, last_at in last_verifications.items() if last_at >= signs_from} | with_uses
    return [environment for environment in environments if environment.pk in with_calls]


def _read_result(environment: Environment, signer: SigningSecret, signs_from: datetime, now: datetime) -> SigningResult:
    uses = SecretUse.objects.filter(environment=environment)
    accepted = uses.filter(secret=signer).aggregate(sum=Sum("count"))["sum"]
    last_accepted, arrival = find_last_accepted(environment), signs_from + IN_FLIGHT
    is_reported = last_accepted is None or last_accepted <= arrival or uses.filter(last_at__gt=arrival).exists()
    before = count_results_before(environment, signs_from)
    rejected = sum_rejections_since(environment, signs_from, now=now, reason=REASON)
    calls = CallsOfSecret(
        int(accepted or 0) if accepted or is_reported else None,
        rejected.counts[REASON],
        before[REASON],
        before.total(),
    )
    return SigningResult(environment, signer, signs_from, calls, rejected.last_at)
