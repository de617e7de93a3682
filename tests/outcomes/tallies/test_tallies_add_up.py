"""After any events in any order, tallies equal a recount of the rows, and every period adds up."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcomes.analytics.filters import KeyFilters
from outcomes.analytics.outcomes_page import Analytics
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from outcomes.models import Outcome
from outcomes.tallies import keys as outcome_keys
from outcomes.tallies import series
from tests.outcomes.recount_rows import read_report_times, read_tallies, recount
from wire.time.period import Period
from workspaces.models import Environment

START = datetime(2025, 12, 20, tzinfo=UTC)
moments = st.integers(0, 60 * 24 * 60).map(lambda minutes: START + timedelta(minutes=minutes))
ids = st.sampled_from([f"c{n}" for n in range(12)])
keys = st.sampled_from(["purchase", "renewal", "Purchase ", "ticket"])
batches = st.lists(st.builds(Report, ids, keys), max_size=12)
arrivals = st.lists(st.builds(Arrival, ids, st.none() | moments), max_size=6)
histories = st.lists(st.tuples(moments, st.one_of(batches.map(tuple), arrivals.map(tuple))), max_size=12)

fewer_examples = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def play_history(workspace, history) -> Environment:
    """Play the history in a new environment; return the environment."""
    name = f"e{Environment.objects.count()}"
    environment = Environment.objects.create(workspace=workspace.workspace, name=name, audience=name)
    for now, batch in history:
        if batch and isinstance(batch[0], Report):
            record_outcomes(environment, batch, now=now)
        elif batch:
            register_conversations(environment, batch, now=now)
    return environment


@fewer_examples
@given(histories)
def test_tallies_equal_a_recount_of_the_rows(workspace, history):
    environment = play_history(workspace, history)
    assert read_tallies(environment) == recount(environment)


@fewer_examples
@given(histories)
def test_the_first_and_last_report_of_a_key_are_those_of_its_rows(workspace, history):
    environment = play_history(workspace, history)
    for key in {report.outcome_key for _, batch in history for report in batch if isinstance(report, Report)}:
        rows = Outcome.objects.filter(environment=environment, outcome_key=key)
        times = (
            min(rows.values_list("first_reported_at", flat=True)),
            max(rows.values_list("last_reported_at", flat=True)),
        )
        assert read_report_times(environment, key) == times


@fewer_examples
@given(histories, moments, st.integers(1, 5000), st.sampled_from(["UTC", "Asia/Kolkata", "America/New_York"]))
def test_totals_keys_and_chart_of_any_range_equal_a_recount(workspace, history, start, quarters, zone):
    environment = play_history(workspace, history)
    start -= timedelta(minutes=start.minute % 15)
    period = Period(start, start + quarters * timedelta(minutes=15), ZoneInfo(zone))
    within = Outcome.objects.filter(
        environment=environment, first_reported_at__gte=period.start, first_reported_at__lt=period.end
    )
    totals = series.read_totals(environment, period)
    lines = {line.key: line for line in outcome_keys.stream_keys(environment, period)}
    chart = Analytics(environment, period, KeyFilters()).chart
    assert totals.outcomes == within.filter(broken=False).count()
    assert totals.broken == within.filter(broken=True).count()
    assert totals.reports == sum(within.values_list("reports", flat=True))
    assert sum(line.outcomes for line in lines.values()) == totals.outcomes
    assert sum(line.reports for line in lines.values()) == totals.reports
    assert sum(line.total for line in chart.lines) == totals.outcomes
    for line in chart.lines:
        for bucket, number in zip(chart.buckets, line.numbers, strict=True):
            in_bucket = {"first_reported_at__gte": bucket.start, "first_reported_at__lt": bucket.end}
            assert number == within.filter(outcome_key=line.key, broken=False, **in_bucket).count()


def test_the_share_counts_conversations_that_started_in_the_range(workspace):
    old, new = START, START + timedelta(days=10)
    history = [
        (new, (Arrival("old", old), Arrival("new", new), Arrival("idle", new))),
        (new + timedelta(days=1), (Report("old", "purchase"), Report("new", "purchase"))),
    ]
    environment = play_history(workspace, history)
    period = Period(new, new + timedelta(days=2), ZoneInfo("UTC"))
    (line,) = outcome_keys.stream_keys(environment, period)
    assert (line.outcomes, line.reached, series.read_totals(environment, period).conversations) == (2, 1, 2)


def test_a_key_that_was_reported_after_a_period_has_the_share_of_its_conversations(workspace):
    """The list of keys has only those that were reported in the period or in the one before."""
    history = [
        (START, (Arrival("a", START), Arrival("idle", START))),
        (START + timedelta(days=2), (Report("a", "purchase"),)),
    ]
    environment = play_history(workspace, history)
    period = Period(START, START + timedelta(days=1), ZoneInfo("UTC"))
    totals = outcome_keys.read_keys(environment, period, ["purchase", "refund"])
    assert [(row.outcomes, row.reached) for row in totals.values()] == [(0, 1), (0, 0)]
    assert list(outcome_keys.stream_keys(environment, period)) == []
    assert outcome_keys.read_key_page(environment, period).rows == []


@pytest.mark.parametrize(("before", "now"), [(2, 3), (1, 0)])
def test_a_key_is_compared_with_the_period_before(workspace, before, now):
    end = START + timedelta(days=14)
    period = Period(START + timedelta(days=7), end, ZoneInfo("UTC"))
    ids = [f"c{n}" for n in range(before + now)]
    history = [
        (START, tuple(Arrival(id_) for id_ in ids)),
        (START + timedelta(days=1), tuple(Report(id_, "k") for id_ in ids[:before])),
        (START + timedelta(days=8), tuple(Report(id_, "k") for id_ in ids[before:])),
    ]
    (line,) = outcome_keys.stream_keys(play_history(workspace, history), period)
    assert (line.outcomes, line.compared_outcomes) == (now, before)
