"""The main cause of broken joins, with its start and its API key."""

from datetime import timedelta

from django.utils import timezone

from outcomes.broken_joins import cause_starts
from outcomes.broken_joins.main_cause import find_main_cause
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from tests.outcomes.broken_joins.joins_page import all_time, environment_of
from wire.time.period import parse_period


def test_the_overview_names_the_cause_of_most_broken_joins(workspace):
    production, staging = environment_of(workspace, "production"), environment_of(workspace, "staging")
    now = timezone.now()
    register_conversations(staging, [Arrival(f"s{n}") for n in range(5)], now=now)
    record_outcomes(
        production, [Report(f"s{n}", "purchase") for n in range(5)] + [Report("never", "purchase")], now=now
    )
    main_cause = find_main_cause(production, all_time())
    cause = main_cause.cause
    assert (cause.kind, cause.environment, cause.count, main_cause.join_count) == ("other-environment", "staging", 5, 6)
    assert (main_cause.since, main_cause.is_start, main_cause.is_partial) == (now, True, False)


def test_the_main_cause_has_its_start_even_before_the_period(workspace, monkeypatch):
    production = environment_of(workspace, "production")
    now = timezone.now()

    def start_of_cause():
        main_cause = find_main_cause(production, parse_period({}, now=now))
        return main_cause.since, main_cause.is_start

    record_outcomes(production, [Report("undefined", "purchase")], now=now - timedelta(days=30))
    record_outcomes(production, [Report("new", "purchase")], now=now)
    assert start_of_cause() == (now, True)
    record_outcomes(production, [Report("old", "purchase")], now=now - timedelta(days=20))
    record_outcomes(production, [Report("older", "purchase")], now=now - timedelta(days=25))
    assert start_of_cause() == (now - timedelta(days=25), True)
    monkeypatch.setattr(cause_starts, "NEWEST_BEFORE", 1)
    assert start_of_cause() == (now - timedelta(days=20), False)


def test_the_main_cause_names_a_key_only_if_that_key_reported_all_of_it(workspace):
    production = environment_of(workspace, "production")
    key, other_key = workspace.workspace.api_keys.all()[:2]
    now = timezone.now()
    record_outcomes(production, [Report("one", "purchase")], now=now, reported_by=key.pk)
    assert find_main_cause(production, all_time()).api_key == key
    record_outcomes(production, [Report("two", "purchase")], now=now, reported_by=other_key.pk)
    assert find_main_cause(production, all_time()).api_key is None


def test_the_overview_names_no_cause_if_none_prevails(production):
    assert find_main_cause(production, all_time()) is None
