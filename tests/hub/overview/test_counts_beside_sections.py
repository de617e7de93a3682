"""The side bar counts what waits, is unresolved or broke beside the sections that show it."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from outcomes.ingest.record import Report, record_outcomes
from tests.hub.overview.overview_page import CONFIRMATION_REQUEST, break_orders
from tests.sample_data import fill_workspace


def test_open_decisions_are_counted_next_to_their_section_on_every_page(overview, browser_client, api):
    assert "n waits" not in overview()
    confirmation_id = api.post("/api/confirmations", CONFIRMATION_REQUEST).json()["confirmationId"]
    waiting = re.compile(r'<span class="n waits" title="waiting">\s*1<')
    assert waiting.search(overview())
    assert waiting.search(browser_client.get("/w/lumen-books/production/catalog").content.decode())
    assert "n waits" not in browser_client.get("/w/lumen-books/staging/overview").content.decode()
    browser_client.post(f"/w/lumen-books/production/confirmations/{confirmation_id}/decision", {"decision": "decline"})
    assert "n waits" not in overview()


def test_the_counts_next_to_sections_equal_those_of_their_pages(overview, browser_client, api, workspace):
    fill_workspace(workspace, api)
    break_orders(api, workspace)
    joins = browser_client.get("/w/lumen-books/production/joins").context["totals"].broken
    assert joins > 0
    assert re.search(rf'title="unresolved in this period">\s*{joins}<', overview())
    drift = browser_client.get("/w/lumen-books/production/drift?new=1").context["broken_fields"]
    assert re.search(rf'title="fields broken and not acknowledged, in this period">\s*{drift}<', overview())
    assert drift == 1
    assert "unresolved in this period" not in overview("?from=2026-01-05&to=2026-01-06")


@pytest.mark.parametrize("range_", ["", "?range=all", "?range=24h"])
def test_pages_without_a_period_count_the_last_7_days_next_to_sections_and_say_so(browser_client, production, range_):
    now = timezone.now()
    record_outcomes(production, [Report("a", "purchase"), Report("b", "purchase")], now=now - timedelta(days=2))
    record_outcomes(production, [Report("c", "purchase")], now=now - timedelta(days=20))
    for page in ("retention", "inspector", "keys"):
        html = browser_client.get(f"/w/lumen-books/production/{page}{range_}").content.decode()
        assert re.search(r'title="unresolved in the last 7 days">\s*2<', html), page
