"""Every chart of a year, counted again from the rows by the clocks of ten zones, summer time and all."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Hashable
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from outcomes.analytics.filters import KeyFilters
from outcomes.analytics.page import Analytics
from outcomes.broken_joins import lookup, rates
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from outcomes.models import Outcome
from outcomes.tallies import series
from wire.period import Period

ZONES = (
    "UTC", "Europe/Berlin", "America/New_York", "America/St_Johns", "Asia/Kolkata", "Asia/Kathmandu",
    "Australia/Lord_Howe", "Africa/Cairo", "America/Santiago", "Pacific/Chatham",
)  # fmt: skip
BEGIN, DAYS = datetime(2025, 1, 1, tzinfo=UTC), 400
KEYS = ["purchase", "renewal", "ticket"]
Clock = Callable[[datetime], Hashable]


def of_hour(zone: ZoneInfo) -> Clock:
    return lambda at: (at.astimezone(zone).replace(minute=0, second=0), at.astimezone(zone).utcoffset())


def of_day(zone: ZoneInfo) -> Clock:
    return lambda at: at.astimezone(zone).date()


def of_month(zone: ZoneInfo) -> Clock:
    return lambda at: at.astimezone(zone).date().replace(day=1)


@pytest.fixture(scope="module")
def moments() -> list[datetime]:
    """Spread over the year, and close together about its changes of summer time."""
    chance = random.Random(11)
    anywhere = [BEGIN + timedelta(minutes=chance.randrange(DAYS * 1440)) for _ in range(350)]
    turns = [turn for name in ZONES for turn in changes(ZoneInfo(name))]
    near = [turn + timedelta(minutes=15 * chance.randrange(-12, 12)) for turn in turns for _ in range(8)]
    return sorted([*anywhere, *near])


def changes(zone: ZoneInfo) -> list[datetime]:
    """The hours of the year in which the zone's clocks are put forward or back."""
    hours = [BEGIN + timedelta(hours=n) for n in range(366 * 24)]
    pairs = pairwise(hours)
    return [later for at, later in pairs if at.astimezone(zone).utcoffset() != later.astimezone(zone).utcoffset()]


def test_every_chart_of_a_year_equals_a_recount_in_ten_zones(workspace, moments):
    production = workspace.workspace.environments.get(name="production")
    chance = random.Random(12)
    register_conversations(production, [Arrival(f"c{n}", BEGIN) for n in range(0, len(moments), 2)], now=BEGIN)
    for n, moment in enumerate(moments):
        record_outcomes(production, [Report(f"c{n}", chance.choice(KEYS))], reported_by=1 + n % 2, now=moment)
    facts = list(Outcome.objects.values_list("outcome_key", "first_reported_at", "broken", "reported_by"))
    for name in ZONES:
        zone = ZoneInfo(name)
        check(production, year(zone), of_day(zone), facts)
        check(
            production, Period(BEGIN - timedelta(days=600), BEGIN + timedelta(days=DAYS), zone), of_month(zone), facts
        )
        for turn in changes(zone):
            around = Period(turn - timedelta(hours=20), turn + timedelta(hours=27), zone)
            check(production, around, of_hour(zone), facts)


def year(zone: ZoneInfo) -> Period:
    ends = (datetime.combine(date(year, 1, 2), time(), zone).astimezone(UTC) for year in (2025, 2026))
    return Period(*ends, zone)


def check(environment, shown: Period, clock: Clock, facts) -> None:
    within = [fact for fact in facts if shown.start <= fact[1] < shown.end]
    chart = Analytics(environment, shown, KeyFilters()).chart
    for line in chart.lines:
        counted = Counter(clock(at) for key, at, broken, _ in within if key == line.key and not broken)
        assert along(chart.buckets, line.numbers, clock) == counted
    assert sum(line.total for line in chart.lines) == sum(not broken for _, _, broken, _ in within)
    check_rates(rates.read_rates_by_environment(environment, shown).rates[:1], chart.buckets, clock, [within])
    by_key = rates.read_rates_by_api_key(environment, shown)
    of_keys = [[fact for fact in within if fact[3] == key] for key in (1, 2)]
    check_rates(
        sorted(by_key.rates, key=lambda rate: rate.total_reported), by_key.buckets, clock, sorted(of_keys, key=len)
    )
    assert lookup.find_broken_joins(environment, shown).count() == series.read_totals(environment, shown).broken


def check_rates(rates, buckets, clock: Clock, parts) -> None:
    for rate, part in zip(rates, [part for part in parts if part], strict=True):
        if len({len(part) for part in parts}) == len(parts):
            assert along(buckets, rate.broken, clock) == Counter(clock(at) for _, at, broken, _ in part if broken)
            assert along(buckets, rate.reported, clock) == Counter(clock(at) for _, at, _, _ in part)


def along(buckets, numbers, clock: Clock) -> Counter:
    return Counter({clock(bucket.start): n for bucket, n in zip(buckets, numbers, strict=True) if n})
