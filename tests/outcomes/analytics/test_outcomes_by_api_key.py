"""The table of the API keys that first reported the outcomes of one key."""

from datetime import timedelta

import pytest
from django.utils import timezone

from outcomes.analytics import outcomes_by_api_key, views
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from tests.page_text import read_html
from tests.read_tables import read_tables
from workspaces.models import ApiKey, RetentionPolicy

PAGE = "/w/lumen-books/production/outcome"
NOW = timezone.now()


@pytest.fixture
def production(workspace):
    """Let two API keys report 5 and 3 purchases, of which 2 are broken joins. Then each key reports those of the other.

    One more purchase is reported without a key.
    """
    production = workspace.workspace.environments.get(name="production")
    shop, orders = ApiKey.objects.filter(workspace=workspace.workspace, kind=ApiKey.SECRET).order_by("pk")[:2]
    ApiKey.objects.filter(pk=orders.pk).update(name="order sync job")
    register_conversations(production, [Arrival(f"c{n}") for n in range(7)], now=NOW)
    of_shop, of_orders = [f"c{n}" for n in range(5)], ["c5", "gone 1", "gone 2"]
    for api_key, ids in ((shop, of_shop), (orders, of_orders), (orders, of_shop), (shop, of_orders), (None, ["c6"])):
        pk = api_key and api_key.pk
        record_outcomes(production, [Report(id_, "purchase") for id_ in ids], reported_by=pk, now=NOW)
    record_outcomes(production, [Report("c0", "refund")], reported_by=orders.pk, now=NOW)
    record_outcomes(production, [Report("c1", "old")], reported_by=shop.pk, now=NOW - timedelta(days=20))
    production.shop, production.orders = shop, orders
    return production


def test_each_outcome_counts_for_the_key_that_was_the_first_to_report_it(production, browser_client):
    rows = read_tables(browser_client.get(f"{PAGE}.json?key=purchase"))["reporters"]
    assert [(row["keyId"], row["outcomes"], row["brokenJoins"], row["shareBroken"]) for row in rows] == [
        (production.shop.prefix, 5, 0, 0.0),
        (production.orders.prefix, 1, 2, 0.6667),
        (None, 1, 0, 0.0),
    ]
    page = browser_client.get(f"{PAGE}?key=purchase")
    totals = page.context["key_totals"]
    assert sum(row["outcomes"] for row in rows) == totals.outcomes
    assert sum(row["brokenJoins"] for row in rows) == totals.broken
    html = page.content.decode()
    section = " ".join(html[html.index('id="api-keys"') :].partition("</section>")[0].split())
    assert "each outcome and broken join of this period" in section
    assert "order sync job" in section
    assert f"/joins?key=purchase&amp;by={production.orders.prefix}#joins" in section
    assert "66.7 %" in section
    assert f"/keys#key-{production.orders.pk}" in section
    assert "Not recorded" in section


def test_the_table_says_that_retention_deleted_broken_joins_and_gives_no_share_of_the_rest(production, browser_client):
    RetentionPolicy.objects.create(workspace=production.workspace, broken_joins=2)
    note = "single broken joins are kept for 2 days, older ones are left out here"
    for range_, shares in (("24h", [0.0, 0.6667, 0.0]), ("30d", [None, None, None])):
        rows = read_tables(browser_client.get(f"{PAGE}.json?key=purchase&range={range_}"))["reporters"]
        assert [row["shareBroken"] for row in rows] == shares
        page = read_html(browser_client.get(f"{PAGE}?key=purchase&range={range_}"))
        assert (note in page, "66.7 %" in page) == (range_ == "30d", range_ == "24h")


def test_a_key_that_has_only_broken_joins_says_who_reported_them(production, browser_client):
    record_outcomes(production, [Report("gone 3", "upgrade")], reported_by=production.orders.pk, now=NOW)
    html = browser_client.get(f"{PAGE}?key=upgrade").content.decode()
    assert "No outcomes of this key in this period" in html
    assert "order sync job" in html[html.index('id="api-keys"') :]


def test_of_many_outcomes_the_latest_are_counted_and_the_page_says_so(production, browser_client, monkeypatch):
    monkeypatch.setattr(outcomes_by_api_key, "MAX_REPORTED", 4)
    monkeypatch.setattr(views, "MAX_REPORTED", 4)
    page = browser_client.get(f"{PAGE}?key=purchase")
    assert sum(row.reported for row in page.context["reporters"]) == 4
    assert "the latest 4 of 9 outcomes and broken joins" in read_html(page)


def test_outcomes_of_another_environment_or_time_are_not_counted(production, browser_client):
    page = "/w/lumen-books/staging/outcome?key=purchase"
    assert not browser_client.get(page).context["reporters"]
    assert not browser_client.get(f"{PAGE}?key=old").context["reporters"]
