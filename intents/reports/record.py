"""Store verifications: their sums, and a row for each rejection. Nothing is sampled."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection, transaction

from intents.models import Rejection
from intents.reports.tally import ACCEPTED, Verification, summed
from workspaces.models import Environment

ADD_TO_TALLIES = """
INSERT INTO intents_verificationtally AS tally
       (environment_id, start, result, version, operation, count, last_at)
SELECT %s, added.*
  FROM unnest(
         %s::timestamptz[], %s::text[], %s::smallint[], %s::text[], %s::bigint[], %s::timestamptz[]
       ) AS added
    ON CONFLICT (environment_id, start, result, version, operation)
    DO UPDATE SET count = tally.count + excluded.count, last_at = greatest(tally.last_at, excluded.last_at)
"""


@transaction.atomic
def record(environment: Environment, verifications: Sequence[Verification]) -> int:
    """Returns how many verifications these stand for: the sum of their counts."""
    environment.hold()
    add_to_tallies(environment, verifications)
    keep_rejections(environment, verifications)
    return sum(each.count for each in verifications)


def add_to_tallies(environment: Environment, verifications: Sequence[Verification]) -> None:
    rows = [(*key, *added) for key, added in summed(verifications).items()]
    if not rows:
        return
    with connection.cursor() as cursor:
        cursor.execute(ADD_TO_TALLIES, [environment.pk, *map(list, zip(*rows, strict=True))])


def keep_rejections(environment: Environment, verifications: Sequence[Verification]) -> None:
    Rejection.objects.bulk_create(
        Rejection(
            environment=environment,
            occurred_at=each.occurred_at,
            reason=each.result,
            version=each.version,
            operation=each.operation,
            tool_call_id=each.tool_call_id,
            count=each.count,
        )
        for each in verifications
        if each.result != ACCEPTED
    )
