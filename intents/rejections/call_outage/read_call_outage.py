"""Read whether calls of an environment are accepted at present, from sums of verifications and single rejections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from django.db.models import Max, Sum

from intents.models import Rejection
from intents.rejections.call_outage.call_outage_rule import USUAL, CallOutage, Rejections, begin_after, find_call_outage
from intents.rejections.tallies.first_and_last_verifications import list_months
from intents.rejections.tallies.read_tallies import FORWARD_DAYS, SUMS_OF_SEGMENTS
from intents.reports.verification import ACCEPTED
from wire.postgresql.replica import get_read_connection
from wire.tallies.spans import Segment, cover, segment_columns
from wire.time.period import QUARTER, floor_to_quarter
from wire.time.timestamps import EARLIEST
from workspaces.models import Environment

SELECT_RESULTS = f"SELECT result, sum(count)::bigint, max(last_at) {SUMS_OF_SEGMENTS} GROUP BY 1"


def read_call_outage(environment: Environment, *, now: datetime) -> CallOutage | None:
    """Return the call outage if none of the latest calls was accepted and that is hardly chance; otherwise None."""
    last_accepted = find_last_accepted(environment)
    start = begin_after(last_accepted)
    rejections = sum_rejections_since(environment, start, now=now)
    if start is None or not rejections.counts:
        return find_call_outage(last_accepted, rejections, {})
    usual = count_results_before(environment, floor_to_quarter(start) + QUARTER)
    rejected_in_quarter = _sum_single_rejections(environment, start).counts
    return find_call_outage(last_accepted, rejections, usual - rejected_in_quarter)


def find_last_accepted(environment: Environment) -> datetime | None:
    """Return the time of the last accepted call, read from the sums of months; None if there is none."""
    months = list_months([environment.pk]).filter(result=ACCEPTED)
    last_at: datetime | None = months.aggregate(last_at=Max("last_at"))["last_at"]
    return last_at


def sum_rejections_since(
    environment: Environment, since: datetime | None, *, now: datetime, reason: str = ""
) -> Rejections:
    """Sum the rejections from a moment on.

    The rejections in the quarter hour of that moment are counted one by one, because tallies are no finer. If their
    retention has ended, they are missing.

    since: the moment; None sums all rejections.
    reason: the only reason to sum; "" sums all reasons.
    """
    start = floor_to_quarter(since) + QUARTER if since else EARLIEST
    first = _sum_single_rejections(environment, since, reason) if since else Rejections(Counter(), None)
    results = _read_results(environment, cover(start, max(start, now + FORWARD_DAYS)))
    rows = [row for row in results if row[0] != ACCEPTED and reason in ("", row[0])]
    counts = Counter({result: count for result, count, _ in rows})
    moments = [last_at for *_, last_at in rows]
    last_at = max([*moments, *([first.last_at] if first.last_at else [])], default=None)
    return Rejections(counts + first.counts, last_at)


def count_results_before(environment: Environment, moment: datetime) -> Counter[str]:
    """Count the verifications of the seven days before a moment by result, in whole quarter hours."""
    end = floor_to_quarter(moment)
    return Counter({result: count for result, count, _ in _read_results(environment, cover(end - USUAL, end))})


def _read_results(environment: Environment, segments: Sequence[Segment]) -> list[tuple[str, int, datetime]]:
    with get_read_connection().cursor() as cursor:
        cursor.execute(SELECT_RESULTS, {"environments": [environment.pk], **segment_columns(segments)})
        return list(cursor.fetchall())


def _sum_single_rejections(environment: Environment, since: datetime, reason: str = "") -> Rejections:
    """Sum the single rejections from a moment until the end of its quarter hour."""
    rows = Rejection.objects.filter(
        environment=environment, occurred_at__gte=since, occurred_at__lt=floor_to_quarter(since) + QUARTER
    )
    if reason:
        rows = rows.filter(reason=reason)
    sums = list(rows.values_list("reason").annotate(sum=Sum("count"), last_at=Max("occurred_at")).order_by())
    counts = Counter({reason: int(count) for reason, count, _ in sums})
    return Rejections(counts, max((last_at for *_, last_at in sums), default=None))
