"""Totals and charts from the roll-up by day and month equal sums over quarter hours, in any period and zone."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from importlib import import_module
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.db.models import Sum
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from intents.models import ALL_VERSIONS, VerificationRollup, VerificationTally
from intents.rejections.accepted_versions import VersionCounts, count_versions
from intents.rejections.filters import RejectionFilters, narrow_result
from intents.rejections.tallies.read_tallies import load_buckets, load_totals
from intents.rejections.tallies.series import build_buckets
from intents.reports.record import record_verifications
from intents.reports.verification import ACCEPTED, Verification
from wire.time.period import QUARTER, Period, parse_period
from workspaces.models import Environment

BEGIN, DAYS = datetime(2025, 1, 20, tzinfo=UTC), 130
RESULTS = (ACCEPTED, "expired", "replayed")
OPERATIONS = ("", "GET /a", "POST /b")
ZONES = ("UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns", "Australia/Lord_Howe")
LENGTHS = (QUARTER, timedelta(hours=5), timedelta(days=2), timedelta(days=31), timedelta(days=90), timedelta(days=900))
FILL = import_module("intents.migrations.0004_verification_rollup").FILL

quarters = st.integers(-96 * 3, 96 * DAYS).map(lambda number: BEGIN + number * QUARTER)
filter_values = st.builds(
    RejectionFilters,
    reason=st.sampled_from(["", "expired"]),
    version=st.sampled_from([0, 0, 2]),
    operation=st.sampled_from(["", "", "GET /a"]),
)


@pytest.fixture
def filled_environment(production: Environment) -> Environment:
    """Fill two environments with several reports; some add to earlier counts."""
    chance = random.Random(4)
    staging = production.workspace.environments.get(name="staging")
    for number in range(12):
        verifications = [
            Verification(
                chance.choice(RESULTS),
                BEGIN + timedelta(minutes=chance.randrange(DAYS * 1440 // (1 + number % 3))),
                version=chance.randrange(3),
                operation=chance.choice(OPERATIONS),
                count=chance.randrange(1, 50),
            )
            for _ in range(80)
        ]
        record_verifications(staging if number % 4 == 0 else production, verifications)
    return production


def list_tallies(environment: Environment, period: Period, filters: RejectionFilters):
    """Return the quarter hours of the version and operation, as (start, result, version, operation, count, last_at)."""
    tallies = VerificationTally.objects.filter(
        environment=environment, start__gte=period.start, start__lt=period.end
    ).values_list("start", "result", "version", "operation", "count", "last_at")
    return [tally for tally in tallies if filters.version in (0, tally[2]) and filters.operation in ("", tally[3])]


def sum_rollup() -> dict:
    """Return the expected roll-up: the tallies summed by quarter hour, day and month."""
    sums: dict = {}
    for tally in VerificationTally.objects.all():
        midnight = tally.start.replace(hour=0, minute=0)
        for grain, start in (("q", tally.start), ("d", midnight), ("m", midnight.replace(day=1))):
            for version, operation in ((tally.version, tally.operation), (ALL_VERSIONS, "")):
                if grain == "q" and version != ALL_VERSIONS:
                    continue
                key = (tally.environment_id, grain, start, tally.result, version, operation)
                count, last_at = sums.get(key, (0, tally.last_at))
                sums[key] = (count + tally.count, max(last_at, tally.last_at))
    return sums


def read_rollup() -> dict:
    columns = ("environment_id", "grain", "starts_at", "result", "version", "operation", "count", "last_at")
    return {tuple(row[:6]): row[6:] for row in VerificationRollup.objects.values_list(*columns)}


def test_days_and_months_are_the_sums_of_their_quarter_hours(filled_environment):
    assert read_rollup() == sum_rollup()


def test_the_migration_fills_days_and_months_from_the_stored_quarter_hours(filled_environment):
    kept_rollup = read_rollup()
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE intents_verificationrollup")
        cursor.execute(FILL)
    assert read_rollup() == kept_rollup


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(quarters, st.sampled_from(LENGTHS), st.sampled_from(ZONES), filter_values)
@example(BEGIN, timedelta(days=900), "Asia/Kathmandu", RejectionFilters())
def test_totals_and_charts_are_the_sums_of_the_quarter_hours(filled_environment, start, length, zone, filters):
    period = Period(start, start + length, ZoneInfo(zone))
    tallies = list_tallies(filled_environment, period, filters)
    totals = {
        (total.result, total.version, total.operation): total
        for total in load_totals(filled_environment, period, filters)
    }
    counts: Counter = Counter()
    for _, result, version, operation, count, last_at in tallies:
        counts[result, version, operation] += count
        assert totals[result, version, operation].last_at >= last_at
    assert {key: total.count for key, total in totals.items()} == counts
    latest = max((last_at for *_, last_at in tallies), default=None)
    assert max((total.last_at for total in totals.values()), default=None) == latest
    chart_counts = [(moment, narrow_result(result, filters.reason), count) for moment, result, *_, count, _ in tallies]
    assert load_buckets(filled_environment, period, filters) == build_buckets(period, chart_counts)


@pytest.mark.parametrize("zone", ZONES)
def test_the_chart_of_all_time_is_the_sum_of_the_quarter_hours(filled_environment, zone):
    period = Period(datetime(2000, 1, 1, tzinfo=UTC), BEGIN + timedelta(days=200), ZoneInfo(zone), preset="all")
    tallies = list_tallies(filled_environment, period, RejectionFilters())
    expected = build_buckets(period, [(moment, result, count) for moment, result, *_, count, _ in tallies])
    assert load_buckets(filled_environment, period) == expected


@pytest.mark.parametrize("minutes", [0, 7, 15, 1440])
def test_versions_count_the_accepted_calls_of_the_seven_days_that_pages_show(filled_environment, minutes):
    now = BEGIN + timedelta(days=40, minutes=minutes)
    VerificationTally.objects.filter(start__gt=now).delete()
    VerificationRollup.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute(FILL)
    start = parse_period({"range": "7d"}, now=now).start
    since = VerificationTally.objects.filter(result=ACCEPTED, start__gte=start)
    v1, v2 = (since.filter(version=version).aggregate(sum=Sum("count"))["sum"] for version in (1, 2))
    assert count_versions(filled_environment.workspace, now=now) == VersionCounts(v1, v1 + v2)
