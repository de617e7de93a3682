"""The rates of broken joins over time, by environment and by API key."""

import re
from datetime import timedelta

from django.utils import timezone

from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from tests.outcomes.broken_joins.joins_page import PAGE, environment_of, tables
from tests.page_text import read_html


def test_the_rates_have_a_table_of_their_points(workspace, production, browser_client):
    page = read_html(browser_client.get(f"{PAGE}?range=7d"))
    table = page.partition('aria-label="Broken rate by environment over time"')[2].partition("</table>")[0]
    assert ", partial</th>" in table.partition("<tbody>")[2].partition("</tr>")[0]  # the latest row is the first
    points = re.findall(r'([\d.]+) % <span class="soft">([\d,]+) of ([\d,]+)</span>', table)
    rows = [row for row in tables(browser_client)["rates"] if row["reported"]]
    assert sum(int(broken) for _, broken, _ in points) == sum(row["brokenJoins"] for row in rows) > 0
    assert sum(int(reported) for *_, reported in points) == sum(row["reported"] for row in rows)
    assert re.search(r"; the last (hour|day) is partial[. ]", page)


def test_days_that_have_not_begun_have_no_rate(workspace, production, browser_client):
    today = timezone.now().date()
    query = f"from={today - timedelta(days=9)}&to={today + timedelta(days=5)}"
    page = read_html(browser_client.get(f"{PAGE}?{query}"))
    table = page.partition('aria-label="Broken rate by environment over time"')[2].partition("</table>")[0]
    assert table.count(", partial</th>") == 1
    assert ", partial</th>" in table.partition("<tbody>")[2].partition("</tr>")[0]  # the latest row is the first
    assert "; the last day is partial" in page
    starts = {row["startsAt"] for row in tables(browser_client, query)["rates"]}
    assert max(starts) <= timezone.now().timestamp()


def test_the_broken_rate_is_exported_by_environment_and_by_api_key(production, workspace, api, browser_client):
    key = str(workspace.workspace.api_keys.get(prefix=workspace.full_key[:12]))
    items = [{"conversationId": id_, "outcomeKey": "renewal"} for id_ in ("known", "gone", "away")]
    api.post("/api/conversation-outcomes", {"outcomes": items})
    exported = tables(browser_client)
    assert totals_of(exported["rates"]) == {"production": (8, 11)}
    assert totals_of(exported["rates-by-key"]) == {key: (2, 3)}
    register_conversations(production, [Arrival("gone")], now=timezone.now())
    assert totals_of(tables(browser_client)["rates-by-key"]) == {key: (1, 3)}
    assert {line["reportedBy"] for line in exported["broken"] if line["conversationId"] == "gone"} == {key}


def totals_of(rates):
    names = {line["name"] for line in rates}
    return {
        name: tuple(
            sum(line[column] for line in rates if line["name"] == name) for column in ("brokenJoins", "reported")
        )
        for name in names
    }


def test_the_rate_is_compared_in_the_words_of_the_overview_and_exported(production, browser_client):
    now = timezone.now()
    record_outcomes(production, [Report("known", f"key-{n}") for n in range(8)], now=now - timedelta(days=8))
    record_outcomes(production, [Report("gone", "a"), Report("gone", "b")], now=now - timedelta(days=8))
    page = read_html(browser_client.get(PAGE))
    assert '75.0 % of 8 reported</span> · <span class="nowrap">+55.0 points</span> against the 7 days before' in page
    assert tables(browser_client)["totals"] == [
        {"period": "now", "brokenJoins": 6, "reported": 8}, {"period": "before", "brokenJoins": 2, "reported": 10},
    ]  # fmt: skip


def test_rates_say_of_how_many_and_mark_those_of_few(production, browser_client):
    """Each point of the chart names the number of reported outcomes, and is hollow if they are fewer than 20."""
    record_outcomes(production, [Report("known", f"key-{n}") for n in range(30)], now=timezone.now())
    chart = browser_client.get(PAGE).context["rate_charts"][0]
    (line, *_) = chart["figure"]["data"]
    rate = chart["chart"].lines[0]
    assert "of %{customdata[1]:,}" in line["hovertemplate"]
    assert line["customdata"] == list(map(list, zip(rate.broken_joins, rate.reported_outcomes, strict=True)))
    assert line["marker"]["symbol"] == ["circle-open" if n < 20 else "circle" for n in rate.reported_outcomes]
    assert "Hollow points: of fewer than 20." in browser_client.get(PAGE).content.decode()


def test_a_rate_is_interrupted_where_nothing_was_reported(production, browser_client):
    now = timezone.now()
    for age in (0, 3):
        reports = [Report(f"{key}-{age}", "purchase") for key in "ab"]
        record_outcomes(production, reports, now=now - timedelta(days=age))
    for days in ("7d", "30d"):
        (line, *_) = browser_client.get(f"{PAGE}?range={days}").context["rate_charts"][0]["figure"]["data"]
        assert not line.get("connectgaps")
        assert any(reported == 0 for _, reported in line["customdata"])
        for rate, (_, reported) in zip(line["y"], line["customdata"], strict=True):
            assert (rate is None) == (reported == 0)


def test_the_legend_calls_keys_by_their_names_with_their_prefixes_where_two_have_the_same(workspace, browser_client):
    production, now = environment_of(workspace, "production"), timezone.now()
    keys = list(workspace.workspace.api_keys.filter(kind="secret").order_by("pk"))
    for number, key in enumerate(keys):
        record_outcomes(production, [Report(f"of-{number}", "purchase")], now=now, reported_by=key.pk)

    def read_legend():
        chart = browser_client.get(PAGE).context["rate_charts"][1]
        return {line["name"] for line in chart["figure"]["data"]}

    assert read_legend() == {key.name for key in keys}
    first, second, *others = keys
    workspace.workspace.api_keys.filter(pk__in=[first.pk, second.pk]).update(name="same")
    workspace.workspace.api_keys.filter(pk__in=[key.pk for key in others]).update(name="")
    assert read_legend() == {f"same {first}", f"same {second}", *map(str, others)}
