"""A search covers every outcome key that was ever reported, however it was stored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from importlib import import_module
from zoneinfo import ZoneInfo

from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcomes.broken_joins.moves.move import move_broken_joins, undo_move
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from outcomes.models import OutcomeKey
from outcomes.tallies import key_search, top_keys
from tests.outcomes.recount_rows import list_search_keys
from wire.time.period import Period

NOW = datetime(2026, 3, 20, 13, 30, tzinfo=UTC)
EVER = Period(datetime(2000, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC), ZoneInfo("UTC"))
texts = st.text("abAB%_\\- ", min_size=1, max_size=4)


def search_keys(environment, search: str) -> list[str]:
    page = top_keys.read_top_page(environment, EVER, search=search, start=0, limit=50, lead=0)
    return [row.key for row in page.rows]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(texts, max_size=12, unique=True), texts)
def test_a_search_finds_exactly_the_keys_that_contain_the_text(environments, names, search):
    production, _ = environments
    OutcomeKey.objects.all().delete()
    OutcomeKey.objects.bulk_create(OutcomeKey(environment=production, outcome_key=name) for name in names)
    matches = {name for name in names if search.lower() in name.lower()}
    assert set(key_search.find_matching_keys(production, search, limit=100)) == matches
    assert len(key_search.find_matching_keys(production, search, limit=1)) == min(len(matches), 1)


def test_a_key_is_found_from_its_first_report_on_whether_or_not_its_conversation_is_known(environments):
    production, staging = environments
    register_conversations(production, [Arrival("c")], now=NOW)
    record_outcomes(production, [Report("c", "Purchase"), Report("gone", "re-purchase")], now=NOW)
    assert search_keys(production, "PURCH") == ["Purchase", "re-purchase"]
    assert search_keys(staging, "PURCH") == []
    record_outcomes(production, [Report("c", "Purchase"), Report("c", "purchase 2")], now=NOW + timedelta(days=40))
    assert list_search_keys(production) == {"Purchase", "re-purchase", "purchase 2"}
    assert list_search_keys(staging) == set()


def test_a_moved_key_is_found_in_the_target_until_the_move_is_undone(environments):
    production, staging = environments
    register_conversations(staging, [Arrival("s")], now=NOW)
    record_outcomes(production, [Report("s", "purchase")], now=NOW)
    move = move_broken_joins(production, staging, EVER, actor="ann", now=NOW)
    assert (search_keys(production, "purch"), search_keys(staging, "purch")) == ([], ["purchase"])
    undo_move(move, actor="ann", now=NOW)
    assert (search_keys(production, "purch"), search_keys(staging, "purch")) == (["purchase"], [])


def test_the_migration_lists_keys_that_were_reported_before_it(environments):
    production, staging = environments
    for day in (0, 40):
        record_outcomes(production, [Report("c", f"key {day}"), Report("c", "often")], now=NOW + timedelta(days=day))
    record_outcomes(staging, [Report("c", "elsewhere")], now=NOW)
    OutcomeKey.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute(import_module("outcomes.migrations.0004_keys_to_search").FILL)
    assert (list_search_keys(production), list_search_keys(staging)) == ({"key 0", "key 40", "often"}, {"elsewhere"})
