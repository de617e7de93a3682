"""The page "outcomes" and its downloads."""

from datetime import timedelta

import plotly.graph_objects
import pytest
from django.utils import timezone

from outcomes import charts, queries
from outcomes.record import Report, record
from outcomes.register import Arrival, register
from tests.outcomes.reading import rows_of, tables_of
from wire import ranges

PAGE = "/w/lumen-books/production/outcomes"


@pytest.fixture
def production(workspace):
    return workspace.workspace.environments.get(name="production")


def happened(environment, now=None):
    """Three conversations; two bought, one of them told twice; one report without a conversation."""
    now = now or timezone.now()
    register(environment, [Arrival("a"), Arrival("b"), Arrival("c")], now=now)
    reports = [
        Report("a", "purchase"),
        Report("a", "purchase"),
        Report("b", "purchase"),
        Report("b", "<b>renewal</b>"),
    ]
    record(environment, [*reports, Report("gone", "purchase")], now=now)


def test_an_empty_page_has_the_lines_that_fill_it(browser_client, workspace):
    html = browser_client.get(PAGE).content.decode()
    assert f"{workspace.secret_key[:12]}…" in html
    assert "curl http://testserver/api/conversation-outcomes" in html
    assert "report_outcomes(API_KEY" in html
    assert workspace.secret_key not in html


def test_an_empty_page_of_another_environment_names_it(browser_client, workspace):
    html = browser_client.get("/w/lumen-books/staging/outcomes").content.decode()
    assert "&quot;environment&quot;: &quot;staging&quot;" in html
    assert "environment=&quot;staging&quot;" in html


def test_the_request_of_the_spec_shows_at_once(api, browser_client):
    api.post("/api/conversations", {"conversations": [{"conversationId": "conv_1"}]})
    items = [{"conversationId": "conv_1", "outcomeKey": "purchase"}]
    api.post("/api/conversation-outcomes", {"outcomes": items})
    html = browser_client.get(PAGE).content.decode()
    assert "<code>purchase</code>" in html
    assert "1 outcome, 1 conversation started; purchase leads with 1." in html


def test_a_key_that_only_broken_joins_have_shows_at_once(api, browser_client):
    items = [{"conversationId": "nobody", "outcomeKey": "purchase"}]
    api.post("/api/conversation-outcomes", {"outcomes": items})
    html = browser_client.get(PAGE).content.decode()
    assert "<code>purchase</code>" in html
    assert "broken joins</a>" in html


def test_page_json_and_csv_tell_the_same(production, browser_client):
    happened(production)
    html = browser_client.get(PAGE).content.decode()
    tables = tables_of(browser_client.get(f"{PAGE}.json"))
    keys = {line["outcomeKey"]: line for line in tables["keys"]}
    numbers = ("outcomes", "brokenJoins", "reports", "reached", "outcomesBefore")
    assert [keys["purchase"][name] for name in numbers] == [2, 1, 4, 2, 0]
    assert [keys["<b>renewal</b>"][name] for name in numbers] == [1, 0, 1, 1, 0]
    assert [{name: str(value) for name, value in line.items()} for line in tables["keys"]] == rows_of(
        browser_client.get(f"{PAGE}.csv?table=keys")
    )
    assert sum(line["outcomes"] for line in tables["series"]) == 3
    assert "&lt;b&gt;renewal" in html
    assert "<b>renewal" not in html


def test_keys_that_a_spreadsheet_would_run_are_neutralised_in_csv_only(production, browser_client):
    register(production, [Arrival("a")], now=timezone.now())
    record(production, [Report("a", "=1+1")], now=timezone.now())
    assert tables_of(browser_client.get(f"{PAGE}.json"))["keys"][0]["outcomeKey"] == "=1+1"
    assert rows_of(browser_client.get(f"{PAGE}.csv"))[0]["outcomeKey"] == "'=1+1"


def test_keys_are_paged_and_all_exported(production, browser_client):
    now = timezone.now()
    register(production, [Arrival("a")], now=now)
    record(production, [Report("a", f"key-{n:03}") for n in range(120)], now=now)
    html = browser_client.get(f"{PAGE}?page=3").content.decode()
    assert "101 to 120 of 120 keys" in html
    assert "key-119" in html
    assert "<code>key-007</code>" not in html
    assert len(tables_of(browser_client.get(f"{PAGE}.json"))["keys"]) == 120


def test_what_lies_before_the_range_is_not_in_it_but_is_compared_with(production, browser_client):
    happened(production, timezone.now() - timedelta(days=7))
    tables = tables_of(browser_client.get(f"{PAGE}.json?range=24h"))
    assert [(line["outcomes"], line["outcomesBefore"]) for line in tables["keys"]] == [(0, 2), (0, 1)]
    assert "Look at all time" not in browser_client.get(f"{PAGE}?range=24h").content.decode()


@pytest.mark.parametrize("query", ["range=24h", "range=12m", "range=all", "range=90d&tz=Asia/Kathmandu", "page=x"])
def test_every_range_counts_what_happened_now(production, browser_client, query):
    happened(production)
    tables = tables_of(browser_client.get(f"{PAGE}.json?{query}"))
    assert sum(line["outcomes"] for line in tables["series"]) == 3
    assert browser_client.get(f"{PAGE}?{query}").status_code == 200


def test_an_outsider_sees_nothing(production, api, client, other_workspace):
    happened(production)
    for address in (PAGE, f"{PAGE}.json", f"{PAGE}.csv"):
        assert api.get(address, key=other_workspace.secret_key).status_code == 404
    assert client.get(PAGE).status_code == 302
    assert client.get(f"{PAGE}.json").status_code == 401
    own = "/w/other-shop/production/outcomes.json"
    assert tables_of(api.get(own, key=other_workspace.secret_key)) == {"keys": [], "series": []}


def test_the_figure_is_one_that_plotly_takes_and_runs_no_markup(production):
    happened(production)
    chart = queries.chart(production, ranges.parse({}, now=timezone.now()))
    figure = charts.over_time(chart.buckets, chart.lines, counted="outcomes")
    plotly.graph_objects.Figure(figure)
    assert [line["name"] for line in figure["data"]] == ["purchase", "&lt;b&gt;renewal&lt;/b&gt;"]


def test_keys_beyond_the_leading_ones_share_one_line(production):
    now = timezone.now()
    register(production, [Arrival(str(n)) for n in range(9)], now=now)
    record(production, [Report(str(n), f"k{m}") for m in range(8) for n in range(m + 1)], now=now)
    lines = queries.chart(production, ranges.parse({}, now=now)).lines
    assert [(line.key, line.total) for line in lines] == [
        ("k7", 8), ("k6", 7), ("k5", 6), ("k4", 5), ("k3", 4), (None, 6),
    ]  # fmt: skip


def test_the_overview_has_both_periods(production):
    now = timezone.now()
    happened(production, now - timedelta(days=7))
    happened(production, now)
    found = queries.overview(production, ranges.parse({"range": "24h"}, now=now))
    assert (found.now.conversations, found.now.outcomes) == (0, 0)  # known already, nothing new
    assert (found.before.conversations, found.before.outcomes, found.before.broken) == (3, 3, 1)


def test_the_series_over_all_keys_has_conversations_and_broken_joins_too(production):
    now = timezone.now()
    happened(production, now)
    buckets = queries.chart_buckets(production, ranges.parse({}, now=now))
    line = queries.series(production, buckets, [queries.ALL_KEYS])[queries.ALL_KEYS]
    assert (line.outcomes[-1], line.broken[-1], line.conversations[-1]) == (3, 1, 3)
