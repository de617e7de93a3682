"""Store verifications: their sums, and a row for each rejection. Nothing is sampled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import connection, transaction

from intents.models import Rejection
from intents.reports.tally_sql import ADD_TO_TALLIES, TALLY_PARAMETERS
from intents.reports.verification import ACCEPTED, Verification
from wire.metrics.definitions import VERIFICATIONS, count_after_commit
from wire.time.period import floor_to_quarter
from workspaces.models import ApiKey, Environment
from workspaces.secrets.uses import SecretUses, record_uses


class TallyKey(NamedTuple):
    """The key of one tally. Tallies are written in the order of their keys, so that reports cannot deadlock."""

    start: datetime
    result: str
    version: int
    operation: str


class TallySum(NamedTuple):
    """The numbers that a report adds to one tally."""

    total: int
    last_at: datetime


@transaction.atomic
def record_verifications(
    environment: Environment, verifications: Sequence[Verification], *, api_key: ApiKey | None = None
) -> int:
    """Store verifications and return the sum of their counts.

    api_key: the key that reported them, if known.
    """
    environment.hold()
    _add_to_tallies(environment, verifications)
    _store_rejections(environment, verifications, api_key)
    for verification in verifications:
        count_after_commit(VERIFICATIONS.labels(verification.result), verification.count)
    if api_key is not None:
        record_uses(environment, api_key, sum_by_secret(verifications))
    return sum(verification.count for verification in verifications)


def sum_by_tally(verifications: Iterable[Verification]) -> Mapping[TallyKey, TallySum]:
    """Sum counts and find the latest time for each tally, in the order of the keys."""
    sums: dict[TallyKey, TallySum] = {}
    for verification in verifications:
        start = floor_to_quarter(verification.occurred_at)
        key = TallyKey(start, verification.result, verification.version, verification.operation)
        total, last_at = sums.get(key, TallySum(0, verification.occurred_at))
        sums[key] = TallySum(total + verification.count, max(last_at, verification.occurred_at))
    return dict(sorted(sums.items()))


def sum_by_secret(verifications: Iterable[Verification]) -> Mapping[str, SecretUses]:
    """Sum the accepted verifications whose signing secret was reported, by the first characters of that secret."""
    sums: dict[str, SecretUses] = {}
    for verification in verifications:
        if verification.result == ACCEPTED and verification.secret:
            uses = sums.get(verification.secret, SecretUses(0, verification.occurred_at))
            last_at = max(uses.last_at, verification.occurred_at)
            sums[verification.secret] = SecretUses(uses.total + verification.count, last_at)
    return sums


def _add_to_tallies(environment: Environment, verifications: Sequence[Verification]) -> None:
    rows = [(*key, *tally_sum) for key, tally_sum in sum_by_tally(verifications).items()]
    if not rows:
        return
    columns = map(list, zip(*rows, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(
            ADD_TO_TALLIES, {"environment": environment.pk, **dict(zip(TALLY_PARAMETERS, columns, strict=True))}
        )


def _store_rejections(environment: Environment, verifications: Sequence[Verification], api_key: ApiKey | None) -> None:
    Rejection.objects.bulk_create(
        Rejection(
            environment=environment,
            occurred_at=verification.occurred_at,
            reason=verification.result,
            version=verification.version,
            operation=verification.operation,
            tool_call_id=verification.tool_call_id,
            count=verification.count,
            api_key=api_key,
        )
        for verification in verifications
        if verification.result != ACCEPTED
    )
