"""The top keys are those of the whole list, in the same order, even if only a few keys of each bucket were read."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from itertools import product
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from hypothesis import example, given
from hypothesis import strategies as st

from outcomes.ingest.delete_conversation import delete_conversation
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from outcomes.models import MAGNITUDE_STEPS, Tally
from outcomes.tallies import keys, top_keys
from outcomes.tallies.comparison import SIBLING, Comparison
from wire.tallies.shards import SHARDS
from wire.time.period import Period
from workspaces.create import create_workspace
from workspaces.models import Environment, Workspace

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("two tails")]  # one worker writes their rows
END = datetime(2026, 3, 20, 13, 30, tzinfo=UTC)
RANGES = [Period(END - timedelta(days=days), END, ZoneInfo("UTC")) for days in (1, 12, 40)]


@pytest.fixture(scope="module")
def two_tails(module_rows) -> Workspace:
    return create_workspace("Two tails", ["staging", "sibling"], actor="test", now=END).workspace


@pytest.fixture(scope="module")
def long_tail(two_tails) -> Environment:
    """Report fifty days of outcomes with about 400 keys. The n-th key is about 1/n as frequent as the first."""
    chance, production = random.Random(3), two_tails.environments.get(name="production")
    ids = [f"c{n}" for n in range(90)]
    register_conversations(production, [Arrival(id_) for id_ in ids], now=END)
    for day in range(50):
        ranks = [int(400 ** chance.random()) for _ in range(200)]
        reports = [Report(chance.choice(ids), f"key {rank} of {rank % 5}") for rank in ranks]
        record_outcomes(production, reports, now=END - timedelta(days=day, minutes=chance.randrange(1400)))
    return production


@pytest.mark.parametrize("period", RANGES, ids=lambda period: f"{(period.end - period.start).days} days")
def test_a_page_has_the_same_rows_as_the_whole_list(long_tail, period, monkeypatch):
    """SHORT and FEW_MATCHES turn the shortcuts for short periods and for few matches on and off."""
    for search, count, short, few_matches in product(
        ["", "of 3", "KEY 1", "nowhere"], [3, 8, 25], [0, 50_000], [0, 1500]
    ):
        monkeypatch.setattr(top_keys, "SHORT", short)
        monkeypatch.setattr(top_keys, "FEW_MATCHES", few_matches)
        whole = list(keys.stream_keys(long_tail, period, search=search))
        page = top_keys.read_top_page(long_tail, period, search=search, start=2, limit=count, lead=4)
        assert list(page.rows) == whole[2 : 2 + count]
        assert list(page.leading) == whole[:4]
        assert page.total.keys == len(whole) if page.is_counted else 2 + count < len(whole)


def test_top_keys_are_found_without_reading_all_keys(long_tail):
    period = RANGES[-1]
    lines, _ = top_keys.find_top_totals(long_tail, period, 8)
    assert lines == list(keys.stream_keys(long_tail, period))[:8]
    assert len(top_keys.read_key_bounds(long_tail, period, {"q": 8, "d": 16, "m": 32}, "").outcomes_by_key) < len(
        list(keys.stream_keys(long_tail, period))
    )


CONVERSATIONS_IN_SEVEN_MORE_SHARDS = """
INSERT INTO outcomes_tally
  (environment_id, grain, outcome_key, starts_at, lane, outcomes, broken, reports, reached, conversations)
SELECT environment_id, grain, '', starts_at, more_shards, 0, 0, 0, 0, 1
FROM outcomes_tally CROSS JOIN generate_series(1, 7) AS more_shards
WHERE environment_id = %s AND outcome_key = '' AND lane = 0
"""


def test_shards_without_outcomes_do_not_change_the_bounds(long_tail):
    """The rows look as if eight writers had written at the same time, and only one of them had reported outcomes."""
    depths = {"q": 8, "d": 16, "m": 32}
    bounds = top_keys.read_key_bounds(long_tail, RANGES[-1], depths, "")
    with connection.cursor() as cursor:
        cursor.execute(CONVERSATIONS_IN_SEVEN_MORE_SHARDS, [long_tail.pk])
    assert bounds.at_most_more > 0
    assert top_keys.read_key_bounds(long_tail, RANGES[-1], depths, "") == bounds


def test_a_page_has_the_same_rows_after_several_writers_and_deletions(two_tails, monkeypatch):
    chance, staging = random.Random(5), two_tails.environments.get(name="staging")
    ids = [f"c{n}" for n in range(40)]
    register_conversations(staging, [Arrival(id_) for id_ in ids], now=END)
    for shard in (1, 2, 0):
        for day in range(0, 40, 5):
            reports = [Report(chance.choice(ids), f"key {int(200 ** chance.random())}") for _ in range(100)]
            record_outcomes(staging, reports, now=END - timedelta(days=day, minutes=shard))
        with connection.cursor() as cursor:  # move the counts to this shard, as if it had been the free one
            cursor.execute(
                "UPDATE outcomes_tally SET lane = %s WHERE environment_id = %s AND lane = 0", [shard, staging.pk]
            )
    for id_ in ids[:3]:
        delete_conversation(two_tails, id_, ["staging"])
    assert Tally.objects.filter(environment=staging, shard=SHARDS, outcomes__lt=0).exists()
    monkeypatch.setattr(top_keys, "SHORT", 0)
    monkeypatch.setattr(top_keys, "FEW_MATCHES", 0)
    for period, search, count in product(RANGES, ["", "1", "KEY 1"], [1, 3, 8]):
        whole = list(keys.stream_keys(staging, period, search=search))
        page = top_keys.read_top_page(staging, period, search=search, start=0, limit=count, lead=0)
        assert list(page.rows) == whole[:count]


@pytest.fixture(scope="module")
def other_tail(two_tails) -> Environment:
    """Report thirty days of outcomes in which other keys are the most frequent."""
    chance, sibling = random.Random(4), two_tails.environments.get(name="sibling")
    ids = [f"c{n}" for n in range(60)]
    register_conversations(sibling, [Arrival(id_) for id_ in ids], now=END)
    for day in range(30):
        ranks = [400 - int(400 ** chance.random()) for _ in range(120)]
        reports = [Report(chance.choice(ids), f"key {rank} of {rank % 5}") for rank in ranks]
        record_outcomes(sibling, reports, now=END - timedelta(days=day, minutes=chance.randrange(1400)))
    return sibling


@pytest.mark.parametrize("period", RANGES, ids=lambda period: f"{(period.end - period.start).days} days")
def test_a_page_of_a_comparison_has_the_same_rows_as_its_whole_list(long_tail, other_tail, period, monkeypatch):
    comparison = Comparison(other_tail, period, SIBLING)
    for search, count, short, few_matches in product(
        ["", "of 3", "KEY 1", "nowhere"], [1, 4, 11], [0, 50_000], [0, 1500]
    ):
        monkeypatch.setattr(top_keys, "SHORT", short)
        monkeypatch.setattr(top_keys, "FEW_MATCHES", few_matches)
        whole = list(keys.stream_keys(long_tail, period, search=search, comparison=comparison))
        page = top_keys.read_top_page(
            long_tail, period, search=search, start=0, limit=count, lead=0, comparison=comparison
        )
        assert list(page.rows) == whole[:count]
        assert not page.is_counted or page.total.keys == len(whole)


def test_top_keys_of_a_comparison_are_found_without_reading_all_keys(long_tail, other_tail):
    comparison = Comparison(other_tail, RANGES[-1], SIBLING)
    rows, _ = top_keys.find_top_totals(long_tail, RANGES[-1], 4, comparison=comparison)
    assert rows == list(keys.stream_keys(long_tail, RANGES[-1], comparison=comparison))[:4]
    assert any(row.compared_outcomes for row in rows)


def test_a_short_period_with_few_reports_is_read_completely(long_tail, monkeypatch):
    monkeypatch.setattr(top_keys, "read_key_bounds", None)
    assert top_keys.find_top_totals(long_tail, RANGES[0], 3) == ((), None)


def test_if_few_keys_match_the_search_only_those_are_read(long_tail, monkeypatch):
    monkeypatch.setattr(top_keys, "read_key_bounds", None)
    lines, only = top_keys.find_top_totals(long_tail, RANGES[-1], 3, search="KEY 1 ")
    assert (lines, only) == ((), ["key 1 of 1"])


def test_all_keys_are_read_if_the_bounds_do_not_decide(production):
    register_conversations(production, [Arrival("c")], now=END)
    record_outcomes(production, [Report("c", f"k{n}") for n in range(60)], now=END - timedelta(hours=1))
    assert top_keys.find_top_totals(production, RANGES[1], 2) == ((), None)
    page = top_keys.read_top_page(production, RANGES[1], search="", start=0, limit=2, lead=0)
    assert ([line.key for line in page.rows], page.total.keys) == (["k0", "k1"], 60)


def test_a_key_that_cannot_reach_the_last_top_key_is_not_read():
    bounds = top_keys.KeyBounds({"a": 9, "b": 7, "c": 5, "d": 4}, at_most_more=2, complete=False)
    assert bounds.find_candidates(2) == (["a", "b", "c"], 6)
    assert bounds.find_candidates(9) == (["a", "b", "c", "d"], 2)


@given(
    st.datetimes(datetime(2000, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),
    st.timedeltas(timedelta(minutes=15), timedelta(days=900)),
)
@example(datetime(9999, 11, 1, tzinfo=UTC), timedelta(days=60))
@example(datetime(2026, 2, 8, tzinfo=UTC), timedelta(days=40))
def test_a_widened_period_contains_the_period_and_is_at_most_half_as_long_again(start, length):
    period = Period(start, start + length, ZoneInfo("UTC"))
    wide = top_keys.widen_period(period)
    assert wide.start <= period.start < period.end <= wide.end
    assert wide.end - wide.start <= 1.5 * length
    assert wide == period or all(end.time() == time() for end in (wide.start, wide.end))


@pytest.mark.parametrize("days", [3, 33, 47])
def test_keys_from_outside_the_period_are_not_top_keys(long_tail, days):
    """Shortly before the period, but in the same months, other keys are far more frequent."""
    staging = long_tail.workspace.environments.get(name="staging")
    register_conversations(staging, [Arrival(f"c{n}") for n in range(60)], now=END)
    period = Period(END - timedelta(days=days), END, ZoneInfo("UTC"))
    for number in range(30):
        early = [Report(f"c{n}", f"early {number}") for n in range(50)]
        late = [Report(f"c{n}", f"late {number}") for n in range(number // 2 + 1)]
        record_outcomes(staging, early, now=period.start - timedelta(minutes=15))
        record_outcomes(staging, late, now=END - timedelta(days=1))
    page = top_keys.read_top_page(staging, period, search="", start=0, limit=8, lead=3)
    assert list(page.rows) == list(keys.stream_keys(staging, period))[:8]


def magnitudes(environment: Environment) -> Sequence[tuple[int, int]]:
    return Tally.objects.filter(environment=environment).values_list("outcomes", "magnitude")


def test_a_magnitude_is_the_number_of_steps_reached(long_tail):
    assert all(
        magnitude == sum(step <= outcomes for step in MAGNITUDE_STEPS) for outcomes, magnitude in magnitudes(long_tail)
    )
    assert MAGNITUDE_STEPS[:8] == [1, 2, 3, 4, 5, 6, 7, 8]
