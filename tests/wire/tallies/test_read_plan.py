"""The read plan of a chart: for any period, adding and subtracting its sums gives each bucket exactly."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from wire.tallies.read_plan import ReadPlan, plan_reads
from wire.tallies.spans import DAY, QUARTER, bucket_starts, next_month
from wire.time.buckets import split_into_buckets

ZONES = ("UTC", "Europe/Berlin", "America/Los_Angeles", "Asia/Kathmandu", "Pacific/Auckland", "Pacific/Chatham")
quarters = st.integers(0, 400_000).map(lambda n: datetime(2018, 1, 1, tzinfo=UTC) + n * QUARTER)
LENGTHS = {"hour": 2 * DAY, "day": 60 * DAY, "month": 400 * DAY}


def count_quarters(plan: ReadPlan, segment_number: int, epoch_seconds: int) -> Counter[datetime]:
    """Return the quarter hours that one sum of the plan contains, each with the count 1."""
    grain, _, till = plan.segments[segment_number]
    start = datetime.fromtimestamp(epoch_seconds, UTC)
    end = {"q": till, "d": start + DAY, "m": next_month(start)}[grain]
    return Counter(start + n * QUARTER for n in range((end - start) // QUARTER))


@settings(deadline=None)
@given(quarters, st.floats(0.001, 1), st.sampled_from(ZONES), st.sampled_from(sorted(LENGTHS)))
def test_a_bucket_counts_exactly_its_own_quarter_hours_once(start, share, zone, step):
    end = start + max(QUARTER, share * LENGTHS[step] // QUARTER * QUARTER)
    bucket_row = split_into_buckets(start, end, ZoneInfo(zone), step)
    sums: list[Counter[datetime]] = [Counter() for _ in bucket_row]
    plan = plan_reads(tuple(bucket_row))
    for sum_id, uses in plan.uses.items():
        for position, sign in uses:
            for quarter in count_quarters(plan, *sum_id):
                sums[position][quarter] += sign
    for bucket, counts in zip(bucket_row, sums, strict=True):
        expected = {bucket.start + n * QUARTER for n in range((bucket.end - bucket.start) // QUARTER)}
        assert {quarter: n for quarter, n in counts.items() if n} == dict.fromkeys(expected, 1)


@given(quarters, st.sampled_from(ZONES), st.sampled_from(["day", "month"]))
def test_only_the_sums_that_are_used_are_read(start, zone, step):
    bucket_row = split_into_buckets(start, start + timedelta(days=45), ZoneInfo(zone), step)
    plan = plan_reads(tuple(bucket_row))
    read = Counter()
    for number, segment in enumerate(plan.segments):
        beginnings = [segment.start] if segment.grain == "q" else bucket_starts(segment)
        read.update((number, int(start.timestamp())) for start in beginnings)
    assert read == Counter(plan.uses.keys())
    assert len(set(plan.segments)) == len(plan.segments)


@given(quarters, st.sampled_from(ZONES))
def test_a_day_in_any_zone_reads_at_most_half_of_its_quarter_hours(start, zone):
    bucket_row = split_into_buckets(start, start + timedelta(days=45), ZoneInfo(zone), "day")
    lengths = [end - since for grain, since, end in plan_reads(tuple(bucket_row)).segments if grain == "q"]
    assert max(lengths, default=QUARTER) <= DAY / 2
    assert len(lengths) <= len(bucket_row) + 1
