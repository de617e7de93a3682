"""Charts of a year equal a recount of the rows in ten time zones, also on days when the clocks change."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Hashable
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from outcomes.analytics.filters import KeyFilters
from outcomes.analytics.outcomes_page import Analytics
from outcomes.broken_joins import queries, rates
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from outcomes.models import Outcome
from outcomes.tallies import series
from wire.time.period import Period

ZONES = (
    "UTC", "Europe/Berlin", "America/New_York", "America/St_Johns", "Asia/Kolkata", "Asia/Kathmandu",
    "Australia/Lord_Howe", "Africa/Cairo", "America/Santiago", "Pacific/Chatham",
)  # fmt: skip
BEGIN, DAYS = datetime(2025, 1, 1, tzinfo=UTC), 400
KEYS = ["purchase", "renewal", "ticket"]
Clock = Callable[[datetime], Hashable]


def hour_clock(zone: ZoneInfo) -> Clock:
    return lambda moment: (moment.astimezone(zone).replace(minute=0, second=0), moment.astimezone(zone).utcoffset())


def day_clock(zone: ZoneInfo) -> Clock:
    return lambda moment: moment.astimezone(zone).date()


def month_clock(zone: ZoneInfo) -> Clock:
    return lambda moment: moment.astimezone(zone).date().replace(day=1)


@pytest.fixture(scope="module")
def moments() -> list[datetime]:
    """Return times within 400 days, many of them close to changes of the clocks."""
    chance = random.Random(11)
    anywhere = [BEGIN + timedelta(minutes=chance.randrange(DAYS * 1440)) for _ in range(350)]
    turns = [turn for name in ZONES for turn in changes(ZoneInfo(name))]
    near = [turn + timedelta(minutes=15 * chance.randrange(-12, 12)) for turn in turns for _ in range(8)]
    return sorted([*anywhere, *near])


def changes(zone: ZoneInfo) -> list[datetime]:
    """Return the hours of the year in which the zone's clocks are put forward or back."""
    hours = [BEGIN + timedelta(hours=n) for n in range(366 * 24)]
    pairs = pairwise(hours)
    return [
        later for moment, later in pairs if moment.astimezone(zone).utcoffset() != later.astimezone(zone).utcoffset()
    ]


def test_every_chart_of_a_year_equals_a_recount_in_ten_zones(production, moments):
    chance = random.Random(12)
    register_conversations(production, [Arrival(f"c{n}", BEGIN) for n in range(0, len(moments), 2)], now=BEGIN)
    # One conversation is so old that a chart of all time has one bar for each month.
    register_conversations(production, [Arrival("first", BEGIN - timedelta(days=600))], now=BEGIN)
    for n, moment in enumerate(moments):
        record_outcomes(production, [Report(f"c{n}", chance.choice(KEYS))], reported_by=1 + n % 2, now=moment)
    facts = list(Outcome.objects.values_list("outcome_key", "first_reported_at", "broken", "reported_by"))
    for name in ZONES:
        zone = ZoneInfo(name)
        check(production, year(zone), day_clock(zone), facts)
        check(
            production,
            Period(BEGIN - timedelta(days=600), BEGIN + timedelta(days=DAYS), zone),
            month_clock(zone),
            facts,
        )
        for turn in changes(zone):
            period_around = Period(turn - timedelta(hours=20), turn + timedelta(hours=27), zone)
            check(production, period_around, hour_clock(zone), facts)


def year(zone: ZoneInfo) -> Period:
    ends = (datetime.combine(date(year, 1, 2), time(), zone).astimezone(UTC) for year in (2025, 2026))
    return Period(*ends, zone)


def check(environment, period: Period, clock: Clock, facts) -> None:
    within = [fact for fact in facts if period.start <= fact[1] < period.end]
    chart = Analytics(environment, period, KeyFilters()).chart
    for line in chart.lines:
        counts = Counter(clock(moment) for key, moment, broken, _ in within if key == line.key and not broken)
        assert count_by_clock(chart.buckets, line.numbers, clock) == counts
    assert sum(line.total for line in chart.lines) == sum(not broken for _, _, broken, _ in within)
    check_rates(rates.read_rates_by_environment(environment, period).rates[:1], chart.buckets, clock, [within])
    by_key = rates.read_rates_by_api_key(environment, period)
    of_keys = [[fact for fact in within if fact[3] == key] for key in (1, 2)]
    check_rates(
        sorted(by_key.rates, key=lambda rate: rate.total_reported), by_key.buckets, clock, sorted(of_keys, key=len)
    )
    assert queries.find_broken_joins(environment, period).count() == series.read_totals(environment, period).broken


def check_rates(rates, buckets, clock: Clock, parts) -> None:
    for rate, part in zip(rates, [part for part in parts if part], strict=True):
        if len({len(part) for part in parts}) == len(parts):
            assert count_by_clock(buckets, rate.broken_joins, clock) == Counter(
                clock(moment) for _, moment, broken, _ in part if broken
            )
            assert count_by_clock(buckets, rate.reported_outcomes, clock) == Counter(
                clock(moment) for _, moment, _, _ in part
            )


def count_by_clock(buckets, numbers, clock: Clock) -> Counter:
    return Counter({clock(bucket.start): n for bucket, n in zip(buckets, numbers, strict=True) if n})
