"""The page "outcomes" and its downloads."""

import re
from datetime import timedelta

import plotly.graph_objects
import pytest
from django.utils import timezone

from outcomes.analytics import outcomes_page, plotly_figures
from outcomes.analytics.filters import KeyFilters
from outcomes.analytics.outcomes_page import Analytics
from outcomes.broken_joins.moves.move import move_broken_joins, undo_move
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from outcomes.tallies import series
from outcomes.templatetags.chart_rows import render_rows
from tests.page_text import read_html
from tests.read_tables import read_rows, read_tables
from wire.time.buckets import Bucket
from wire.time.period import parse_period

PAGE = "/w/lumen-books/production/outcomes"
KEY_PAGE = "/w/lumen-books/production/outcome"


def chart_of(environment, **filters):
    return Analytics(environment, parse_period({}, now=timezone.now()), KeyFilters(**filters)).chart


def report_outcomes(environment, now=None):
    """Register three conversations. Report two purchases (one of them twice), a renewal, and a broken join."""
    now = now or timezone.now()
    register_conversations(environment, [Arrival("a"), Arrival("b"), Arrival("c")], now=now)
    reports = [
        Report("a", "purchase"),
        Report("a", "purchase"),
        Report("b", "purchase"),
        Report("b", "<b>renewal</b>"),
    ]
    record_outcomes(environment, [*reports, Report("gone", "purchase")], now=now)


def reach_keys(environment, counts, now=None):
    """Report as many outcomes of each key as `counts` says, each in a new conversation."""
    now = now or timezone.now()
    reports = [Report(f"{key} {n} {now}", key) for key, count in counts.items() for n in range(count)]
    register_conversations(environment, [Arrival(report.conversation_id) for report in reports], now=now)
    record_outcomes(environment, reports, now=now)


def test_the_tile_of_broken_joins_says_what_its_rate_is_of(production, browser_client):
    register_conversations(production, [Arrival("known")], now=timezone.now())
    reports = [Report("known", "purchase"), Report("known", "refund"), Report("gone", "purchase")]
    record_outcomes(production, [*reports, *reports], now=timezone.now())
    page = read_html(browser_client.get(PAGE))
    assert "33.3 % of 3 reported </div>" in page


@pytest.mark.parametrize("page", [PAGE, f"{PAGE.removesuffix('s')}?key=purchase"])
def test_the_tile_of_reports_says_whose_reports_it_counts(production, browser_client, page):
    report_outcomes(production, now=timezone.now() - timedelta(days=30))
    report_outcomes(production)
    record_outcomes(production, [Report("new", "purchase")] * 2, now=timezone.now())
    text = read_html(browser_client.get(page))
    tile = text.partition("<small>Reports</small>")[2].partition("</div> </div>")[0]
    assert '<div class="v">2</div>' in tile, "repeats of older outcomes are not in it"
    assert "of what was first reported in this period, with repeats and broken joins" in tile


def test_an_empty_page_has_the_lines_that_fill_it(browser_client, workspace):
    html = browser_client.get(PAGE).content.decode()
    assert f"{workspace.report_key[:12]}…" in html
    assert "curl http://testserver/api/conversation-outcomes" in html
    assert "report_outcomes(API_KEY" in html
    assert workspace.full_key not in html


def test_an_empty_page_of_another_environment_names_it(browser_client, workspace):
    html = browser_client.get("/w/lumen-books/staging/outcomes").content.decode()
    assert "&quot;environment&quot;: &quot;staging&quot;" in html
    assert "environment=&quot;staging&quot;" in html


def test_an_outcome_that_the_api_received_is_shown_at_once(api, browser_client):
    api.post("/api/conversations", {"conversations": [{"conversationId": "conv_1"}]})
    items = [{"conversationId": "conv_1", "outcomeKey": "purchase"}]
    api.post("/api/conversation-outcomes", {"outcomes": items})
    html = browser_client.get(PAGE).content.decode()
    assert "<code>purchase</code>" in html
    assert "1 outcome, 1 conversation started; purchase leads with 1." in html


def test_a_key_with_only_broken_joins_is_shown_at_once(api, browser_client):
    items = [{"conversationId": "nobody", "outcomeKey": "purchase"}]
    api.post("/api/conversation-outcomes", {"outcomes": items})
    html = browser_client.get(PAGE).content.decode()
    assert "<code>purchase</code>" in html
    assert "broken joins</a>" in html


def test_page_json_and_csv_have_the_same_numbers(production, browser_client):
    report_outcomes(production)
    html = browser_client.get(PAGE).content.decode()
    tables = read_tables(browser_client.get(f"{PAGE}.json"))
    keys = {line["outcomeKey"]: line for line in tables["keys"]}
    numbers = ("outcomes", "brokenJoins", "reports", "reached", "outcomesBefore")
    assert [keys["purchase"][name] for name in numbers] == [2, 1, 4, 2, None]
    assert [keys["<b>renewal</b>"][name] for name in numbers] == [1, 0, 1, 1, None]
    cells = [{name: "" if value is None else str(value) for name, value in row.items()} for row in tables["keys"]]
    rows = read_rows(browser_client.get(f"{PAGE}.csv?table=keys"))
    assert cells == [{name: cell for name, cell in row.items() if not name.endswith("Iso")} for row in rows]
    assert sum(line["outcomes"] for line in tables["series"]) == 3
    assert "&lt;b&gt;renewal" in html
    assert "<b>renewal" not in html


def test_keys_that_a_spreadsheet_would_execute_are_neutralised_in_csv_only(production, browser_client):
    register_conversations(production, [Arrival("a")], now=timezone.now())
    record_outcomes(production, [Report("a", "=1+1")], now=timezone.now())
    assert read_tables(browser_client.get(f"{PAGE}.json"))["keys"][0]["outcomeKey"] == "=1+1"
    assert read_rows(browser_client.get(f"{PAGE}.csv"))[0]["outcomeKey"] == "'=1+1"


def test_keys_are_paged_and_all_exported(production, browser_client):
    now = timezone.now()
    register_conversations(production, [Arrival("a")], now=now)
    record_outcomes(production, [Report("a", f"key-{n:03}") for n in range(120)], now=now)
    html = browser_client.get(f"{PAGE}?page=3").content.decode()
    assert "101 to 120 of 120 keys" in " ".join(html.split())
    assert "key-119" in html
    assert "<code>key-007</code>" not in html
    assert len(read_tables(browser_client.get(f"{PAGE}.json"))["keys"]) == 120


def test_the_denominator_of_a_share_is_exported(production, browser_client):
    now = timezone.now()
    register_conversations(production, [Arrival("long ago", now - timedelta(days=30))], now=now)
    register_conversations(production, [Arrival(f"c{number}") for number in range(3)], now=now)
    record_outcomes(production, [Report("c0", "won")], now=now)
    for page in (f"{PAGE}.json", f"{PAGE.replace('outcomes', 'outcome')}.json?key=won"):
        totals = read_tables(browser_client.get(page))["totals"]
        assert [(row["period"], row["conversations"], row["outcomes"]) for row in totals] == [
            ("now", 3, 1),
            ("before", 0, 0),
        ]


def test_outcomes_before_the_period_are_used_only_for_comparison(production, browser_client):
    report_outcomes(production, timezone.now() - timedelta(days=7))
    tables = read_tables(browser_client.get(f"{PAGE}.json?range=24h"))
    assert [(line["outcomes"], line["outcomesBefore"]) for line in tables["keys"]] == [(0, 2), (0, 1)]
    assert "show all time" not in browser_client.get(f"{PAGE}?range=24h").content.decode()


@pytest.mark.parametrize("query", ["range=24h", "range=12m", "range=all", "range=90d&tz=Asia/Kathmandu", "page=x"])
def test_every_range_counts_an_outcome_of_now(production, browser_client, query):
    report_outcomes(production)
    tables = read_tables(browser_client.get(f"{PAGE}.json?{query}"))
    assert sum(line["outcomes"] for line in tables["series"]) == 3
    assert browser_client.get(f"{PAGE}?{query}").status_code == 200


def test_an_outsider_sees_nothing(production, api, client, other_workspace):
    report_outcomes(production)
    for address in (PAGE, f"{PAGE}.json", f"{PAGE}.csv"):
        assert api.get(address, key=other_workspace.full_key).status_code == 404
    assert client.get(PAGE).status_code == 302
    assert client.get(f"{PAGE}.json").status_code == 401
    own = read_tables(api.get("/w/other-shop/production/outcomes.json", key=other_workspace.full_key))
    assert own.pop("totals") == [{"period": "now", "conversations": 0, "outcomes": 0, "brokenJoins": 0, "reports": 0}]
    assert not any(own.values())


def test_the_figure_is_valid_for_plotly_and_escapes_markup(production):
    report_outcomes(production)
    chart = chart_of(production)
    figure = plotly_figures.draw_lines(chart, unit="outcomes")
    plotly.graph_objects.Figure(figure)
    assert [line["name"] for line in figure["data"]] == ["purchase", "&lt;b&gt;renewal&lt;/b&gt;"]


def test_the_current_day_is_shaded(production):
    report_outcomes(production)
    figure = plotly_figures.draw_lines(chart_of(production), unit="outcomes")
    days = figure["data"][0]["x"]
    assert [day.endswith(", partial") for day in days] == [False] * (len(days) - 1) + [True]
    (shade,) = figure["layout"]["shapes"]
    (word,) = figure["layout"]["annotations"]
    assert (word["text"], word["x"]) == ("partial", shade["x0"])
    assert (shade["x0"], shade["x1"]) == (len(days) - 1.5, len(days) - 0.5)


def test_of_a_range_that_goes_on_only_what_is_over_is_compared(production, browser_client, monkeypatch):
    """Of three outcomes two weeks earlier, one was reported before this time of day, the others after it."""
    now = timezone.now().replace(hour=12, minute=7)
    report_outcomes(production, now)
    for hours in (-1, 2, 30):
        moment = now - timedelta(weeks=2) + timedelta(hours=hours)
        register_conversations(production, [Arrival(f"before {hours}")], now=moment)
        record_outcomes(production, [Report(f"before {hours}", "purchase")], now=moment)
    query = f"from={now.date() - timedelta(days=7)}&to={now.date() + timedelta(days=3)}"
    monkeypatch.setattr(timezone, "now", lambda: now)
    page = browser_client.get(f"{PAGE}?{query}")
    tables = read_tables(browser_client.get(f"{PAGE}.json?{query}"))
    (dotted,) = (line for line in page.context["figure"]["data"] if line["name"] == "purchase, previous period")
    assert sum(number or 0 for number in dotted["y"]) == 1
    assert [row["outcomesBefore"] for row in tables["keys"] if row["outcomeKey"] == "purchase"] == [1]
    assert sum(row["outcomesBefore"] for row in tables["series"]) == 1


def test_days_that_have_not_begun_are_on_the_axis_and_have_no_numbers(production, browser_client):
    """The chart, the overview and the downloads agree. A day on which a clock that is ahead reported has its number."""
    now = timezone.now()
    today = now.date()
    query = f"from={today - timedelta(days=9)}&to={today + timedelta(days=5)}"
    report_outcomes(production, now - timedelta(days=1))
    report_outcomes(production, now)
    figure = browser_client.get(f"{PAGE}?{query}").context["figure"]
    yesterday, present, *days_to_come = figure["data"][0]["x"]
    assert present.endswith(", partial")
    assert len(days_to_come) == 5
    assert not any(day.endswith(", partial") for day in [yesterday, *days_to_come])
    assert [annotation["text"] for annotation in figure["layout"]["annotations"]] == ["partial"]
    assert {tuple(line["y"][2:]) for line in figure["data"]} == {(None,) * 5}
    for page, column in ((PAGE, "startsAt"), ("/w/lumen-books/production/overview", "start")):
        rows = read_tables(browser_client.get(f"{page}.json?{query}"))["series"]
        assert len({row[column] for row in rows}) == 2
        cells = read_rows(browser_client.get(f"{page}.csv?table=series&{query}"))
        assert len({row[column] for row in cells}) == 2
    register_conversations(production, [Arrival("early")], now=now)
    record_outcomes(production, [Report("early", "purchase")], now=now + timedelta(days=1))
    figure = browser_client.get(f"{PAGE}?{query}").context["figure"]
    (line,) = (line for line in figure["data"] if line["name"] == "purchase")
    assert line["y"][2:] == [1, None, None, None, None]
    assert len({row["startsAt"] for row in read_tables(browser_client.get(f"{PAGE}.json?{query}"))["series"]}) == 3


def test_keys_beyond_the_top_keys_share_one_line(production):
    now = timezone.now()
    register_conversations(production, [Arrival(str(n)) for n in range(9)], now=now)
    record_outcomes(production, [Report(str(n), f"k{m}") for m in range(8) for n in range(m + 1)], now=now)
    lines = chart_of(production).lines
    assert [(line.key, line.total) for line in lines] == [
        ("k7", 8), ("k6", 7), ("k5", 6), ("k4", 5), ("k3", 4), (None, 6),
    ]  # fmt: skip


def test_the_totals_have_both_periods(production):
    now = timezone.now()
    report_outcomes(production, now - timedelta(days=7))
    report_outcomes(production, now)
    period = parse_period({"range": "24h"}, now=now)
    totals, previous = series.read_totals(production, period), series.read_totals(production, period.previous())
    assert (totals.conversations, totals.outcomes) == (0, 0)  # repeated reports add nothing
    assert (previous.conversations, previous.outcomes, previous.broken) == (3, 3, 1)


def test_the_series_of_all_keys_has_conversations_and_broken_joins(production):
    now = timezone.now()
    report_outcomes(production, now)
    buckets = series.chart_buckets(production, parse_period({}, now=now))
    line = series.read_series_of_all_keys(production, buckets)
    assert (line.outcomes[-1], line.broken[-1], line.conversations[-1]) == (3, 1, 3)


def test_selected_keys_have_their_own_lines_and_all_others_share_one(production, browser_client):
    reach_keys(production, {"a": 5, "b": 4, "c": 3, "d": 2})
    assert [(line.key, line.total) for line in chart_of(production, selected_keys=("d", "b", "none")).lines] == [
        ("d", 2), ("b", 4), (None, 8),
    ]  # fmt: skip
    series = read_tables(browser_client.get(f"{PAGE}.json?show=d&show=b"))["series"]
    assert {line["outcomeKey"] for line in series} == {"d", "b", None}
    html = browser_client.get(f"{PAGE}?show=d&show=b").content.decode()
    assert html.count(" checked") == 2


def test_the_other_keys_can_be_opened_rank_by_rank(production, browser_client):
    reach_keys(production, {f"k{n:02}": 20 - n for n in range(12)})
    assert "Show the next keys" in browser_client.get(PAGE).content.decode()
    lines = chart_of(production, rank=6).lines
    assert [line.key for line in lines] == ["k05", "k06", "k07", "k08", "k09", None]
    assert lines[-1].total == 10 + 9
    assert [line.key for line in chart_of(production, rank=11).lines] == ["k10", "k11"]
    assert browser_client.get(f"{PAGE}?rank=11").status_code == 200


def test_a_key_of_a_later_rank_does_not_lead(production, browser_client):
    reach_keys(production, {f"k{n:02}": 20 - n for n in range(12)})
    assert "; k00 leads with 20." in browser_client.get(PAGE).context["sentence"]
    sentence = browser_client.get(f"{PAGE}?rank=6").context["sentence"]
    assert sentence == "174 outcomes in all, 174 conversations started; k05 15 of them."


def test_a_long_tail_is_one_row_that_adds_up_and_opens(production, browser_client):
    reach_keys(production, {f"k{n:02}": 1 + (n < 20) for n in range(60)})
    folded = browser_client.get(PAGE).content.decode()
    assert "40 other keys" in folded
    assert "<code>k20</code>" not in folded
    analytics = Analytics(production, parse_period({}, now=timezone.now()), KeyFilters())
    assert (analytics.folded_tail.outcomes, analytics.folded_tail.keys, len(analytics.rows)) == (40, 40, 20)
    opened = browser_client.get(f"{PAGE}?keys=all").content.decode()
    assert "1 to 50 of 60 keys" in " ".join(opened.split())
    assert "<code>k20</code>" in opened


def test_a_search_finds_any_part_of_a_key_whatever_its_case_and_is_exported(production, browser_client):
    reach_keys(production, {"Ticket-closed": 2, "purchase": 1, "100%_off": 1})
    for search, matches in (("TICKET", ["Ticket-closed"]), ("%_", ["100%_off"]), ("nothing", [])):
        tables = read_tables(browser_client.get(f"{PAGE}.json", {"q": search}))
        assert [line["outcomeKey"] for line in tables["keys"]] == matches
        assert browser_client.get(PAGE, {"q": search}).status_code == 200
    assert browser_client.get(PAGE, {"q": "\0", "show": "\0", "rank": "-3", "page": "9" * 30}).status_code == 200


def test_a_search_narrows_the_table_alone_and_says_how_much_it_found(production, browser_client):
    reach_keys(production, {"Ticket-closed": 2, "purchase": 3})
    whole = read_tables(browser_client.get(f"{PAGE}.json"))
    for search, sentence in (
        ("ticket", "1 to 1 of 1 key with “ticket”, 2 of 5 outcomes"),
        ("zzz", "No key of this period contains “zzz”."),
    ):
        found = read_tables(browser_client.get(f"{PAGE}.json", {"q": search}))
        assert (found["series"], found["totals"]) == (whole["series"], whole["totals"])
        response = browser_client.get(PAGE, {"q": search})
        assert sentence in read_html(response)
        assert [line.name for line in response.context["chart"].lines] == ["purchase", "Ticket-closed"]
        assert response.context["funnel_choices"] == ["purchase", "Ticket-closed"]


@pytest.mark.parametrize(
    "lookalike",
    ["ticket_closed", "Ticket-Closed", " ticket closed ", "TICKETCLOSED", "ticket\u00a0closed", "ticket-closed\u200b"],
)
def test_keys_with_similar_names_are_pointed_out_and_never_merged(production, browser_client, lookalike):
    reach_keys(production, {"ticket-closed": 3, lookalike: 1, "ticket": 1})
    keys = {line["outcomeKey"]: line for line in read_tables(browser_client.get(f"{PAGE}.json"))["keys"]}
    assert {key: line["lookLikeIt"] for key, line in keys.items()} == {
        "ticket-closed": [lookalike], lookalike: ["ticket-closed"], "ticket": [],
    }  # fmt: skip
    assert [keys[key]["outcomes"] for key in ("ticket-closed", lookalike, "ticket")] == [3, 1, 1]
    assert "looks like" in browser_client.get(PAGE).content.decode()


def test_keys_that_differ_only_in_how_an_accent_is_encoded_are_pointed_out(production, browser_client):
    reach_keys(production, {"caf\u00e9": 2, "cafe\u0301": 1, "cafe": 1})
    keys = {line["outcomeKey"]: line["lookLikeIt"] for line in read_tables(browser_client.get(f"{PAGE}.json"))["keys"]}
    assert keys == {"caf\u00e9": ["cafe\u0301"], "cafe\u0301": ["caf\u00e9"], "cafe": []}
    assert "how an accent is encoded" in browser_client.get(f"{KEY_PAGE}?key=caf%C3%A9").content.decode()


def test_keys_that_look_alike_are_written_differently(production, browser_client):
    names = {"buy": "buy", "buy ": r"buy\x20", " ": r"\x20", "b\u200buy": r"b\u200buy", "\u202eyub": r"\u202eyub"}
    reach_keys(production, dict.fromkeys(names, 1))
    page = browser_client.get(PAGE).content.decode()
    assert re.findall(r"<code>(.*?)</code></a>\n", page)
    assert set(names.values()) <= set(re.findall(r"<code>(.*?)</code></a>\n", page))
    for key, name in names.items():
        assert f'name="show" value="{key}"' in page  # what the form sends is the key itself
        assert f'aria-label="In the chart: {name}"' in page
        heading = browser_client.get(KEY_PAGE, {"key": key}).content.decode()
        assert f'<h1 class="mono">{name}</h1>' in heading


def test_lines_of_keys_that_look_alike_have_different_names(production):
    reach_keys(production, {"buy": 2, "buy ": 1})
    assert [line.name for line in chart_of(production).lines] == ["buy", r"buy\x20"]


def test_the_sums_over_all_keys_look_like_no_key(production, browser_client):  # their key in tallies is ""
    reach_keys(production, {" ": 1, "ticket": 2})
    keys = {line["outcomeKey"]: line for line in read_tables(browser_client.get(f"{PAGE}.json"))["keys"]}
    assert keys[" "]["lookLikeIt"] == []


def test_totals_of_a_period_in_which_nothing_happened_are_0_and_not_missing(production, browser_client):
    assert read_tables(browser_client.get(f"{PAGE}.json"))["totals"] == [
        {"period": "now", "conversations": 0, "outcomes": 0, "brokenJoins": 0, "reports": 0}
    ]


def test_each_key_is_compared_with_another_environment_in_the_table_the_chart_and_the_exports(
    production, browser_client, workspace
):
    staging = workspace.workspace.environments.get(name="staging")
    reach_keys(production, {"purchase": 3})
    reach_keys(staging, {"purchase": 2, "renewal": 2})
    register_conversations(production, [Arrival("unfinished")], now=timezone.now())
    tables = read_tables(browser_client.get(f"{PAGE}.json?compare=staging"))
    columns = ("outcomeKey", "outcomes", "outcomesBeside", "change", "reached", "share")
    columns = (*columns, "reachedBeside", "shareBeside", "sharePoints")
    assert [tuple(row[column] for column in columns) for row in tables["keys"]] == [
        ("purchase", 3, 2, None, 3, 0.75, 2, 0.5, 25), ("renewal", 0, 2, None, 0, 0, 2, 0.5, -50),
    ]  # fmt: skip
    assert {row["outcomesBefore"] for row in tables["keys"]} == {None}
    assert sum(row["outcomesBeside"] for row in tables["series"]) == 4
    assert [(row["period"], row["outcomes"]) for row in tables["totals"]] == [("now", 3), ("beside", 4)]
    response = browser_client.get(f"{PAGE}?compare=staging")
    assert [trace["name"] for trace in response.context["figure"]["data"]] == ["purchase", "purchase, staging"]
    page = read_html(response)
    assert '<td class="num soft" data-is="Staging"> 2 </td>' in page
    assert (
        '<td class="num soft" data-is="Share, staging"> 50.0 % </td> <td class="num" data-is="Points">+25.0</td>'
        in page
    )
    assert "of its 4 in the same period" in page
    assert "4 in staging" in page
    assert not re.search(r'class="(?:nowrap )?(?:up|down)"', page)
    assert '<option value="staging" selected>staging</option>' in page


def test_the_points_of_two_environments_agree_with_the_shares_on_the_page(production, browser_client, workspace):
    """A third and a sixth: the exact difference would be written as +16.7."""
    reach_keys(production, {"purchase": 1, "renewal": 2})
    reach_keys(workspace.workspace.environments.get(name="staging"), {"purchase": 1, "renewal": 5})
    page = read_html(browser_client.get(f"{PAGE}?compare=staging"))
    assert '<span title="1 of 3 conversations"> 33.3 % </span>' in page
    assert (
        '<td class="num soft" data-is="Share, staging"> 16.7 % </td> <td class="num" data-is="Points">+16.6</td>'
        in page
    )


def test_a_change_has_the_same_colour_on_every_page_but_none_in_a_comparison_of_environments(
    production, browser_client
):
    now = timezone.now()
    reach_keys(production, {"purchase": 2}, now=now)
    reach_keys(production, {"purchase": 1}, now=now - timedelta(days=8))
    for page, times in (("outcomes", 3), ("outcome?key=purchase", 1), ("overview", 2)):
        html = browser_client.get(f"/w/lumen-books/production/{page}").content.decode()
        assert len(re.findall(r'class="(?:nowrap )?up">\s*2×', html)) == times, page
    assert not re.search("[%×]</span>", browser_client.get(f"{PAGE}?compare=staging").content.decode())


def test_the_previous_count_of_a_new_key_is_0_only_if_there_were_data_before(production, browser_client):
    now = timezone.now()
    reach_keys(production, {"purchase": 2}, now=now)
    read_cell = '<td class="num soft" data-is="Previous period"> {} </td>'
    assert read_cell.format("–") in read_html(browser_client.get(PAGE))
    tables = read_tables(browser_client.get(f"{PAGE}.json"))
    assert {row["outcomesBefore"] for name in ("keys", "series") for row in tables[name]} == {None}
    assert [row["period"] for row in tables["totals"]] == ["now"]
    reach_keys(production, {"renewal": 1}, now=now - timedelta(days=8))
    assert read_cell.format("0") in read_html(browser_client.get(PAGE))
    tables = read_tables(browser_client.get(f"{PAGE}.json"))
    assert {row["outcomeKey"]: row["outcomesBefore"] for row in tables["keys"]} == {"purchase": 0, "renewal": 1}
    assert [row["period"] for row in tables["totals"]] == ["now", "before"]


ALL_SHOWN = "?show=a&show=b&show=c&show=d&show=e"


@pytest.mark.parametrize(
    "query", ["", "?show=a&show=b", "?rank=2", "?compare=staging", ALL_SHOWN, f"{ALL_SHOWN}&compare=staging"]
)
def test_every_line_of_the_series_is_exported_with_what_it_is_compared_with(production, browser_client, query):
    now = timezone.now()
    counts = {"a": 5, "b": 4, "c": 3, "d": 2, "e": 1}
    staging = production.workspace.environments.get(name="staging")
    for environment, at in ((production, now - timedelta(days=7)), (staging, now)):
        reach_keys(environment, {**counts, "e": 7, "gone": 6}, now=at)
    reach_keys(production, counts, now=now)
    tables = read_tables(browser_client.get(f"{PAGE}.json{query}"))
    column = "outcomesBeside" if "compare" in query else "outcomesBefore"
    sums: dict[str | None, int] = {}
    for row in tables["series"]:
        sums[row["outcomeKey"]] = sums.get(row["outcomeKey"], 0) + row[column]
    before = {row["outcomeKey"]: row[column] for row in tables["keys"]}
    shown = {key: count for key, count in sums.items() if key is not None}
    assert shown == {key: before[key] for key in shown}
    left_out = {"?rank=2": ["a"]}.get(query, [])
    others = sum(count for key, count in before.items() if key not in shown and key not in left_out)
    assert sums.get(None, 0) == others


@pytest.mark.parametrize("unknown", ["nowhere", "production", "Staging", "theirs"])
def test_an_unknown_environment_is_named_and_ignored(production, browser_client, other_workspace, unknown):
    other_workspace.workspace.environments.create(name="theirs", audience="theirs")
    reach_keys(production, {"purchase": 1})
    reach_keys(production, {"purchase": 2}, now=timezone.now() - timedelta(days=8))
    response = browser_client.get(f"{PAGE}?compare={unknown}")
    (row, *_) = response.context["rows"][0]
    assert (response.context["comparison"].kind, row.compared_outcomes) == ("previous", 2)
    assert f"This page does not know compare={unknown}, and ignores it." in read_html(response)


@pytest.mark.parametrize("query", ["compare=none", "range=all"])
def test_without_a_comparison_there_is_neither_a_column_nor_a_dotted_line(production, browser_client, query):
    now = timezone.now()
    reach_keys(production, {"purchase": 2}, now=now - timedelta(days=7))
    reach_keys(production, {"purchase": 1}, now=now)
    tables = read_tables(browser_client.get(f"{PAGE}.json?{query}"))
    row = tables["keys"][0]
    assert (row["outcomesBefore"], row["outcomesBeside"], row["change"]) == (None, None, None)
    assert [row["period"] for row in tables["totals"]] == ["now"]
    response = browser_client.get(f"{PAGE}?{query}")
    assert len(response.context["figure"]["data"]) == 1
    assert "Previous period" not in response.content.decode()


def test_keys_are_drawn_with_the_same_weekdays_of_the_previous_period(production):
    now = timezone.now()
    reach_keys(production, {"purchase": 2, "renewal": 1}, now=now - timedelta(days=7))
    reach_keys(production, {"purchase": 3, "renewal": 1}, now=now)
    chart = chart_of(production)
    assert [(line.key, sum(line.numbers)) for line in chart.compared_lines] == [("purchase", 2), ("renewal", 1)]
    assert chart.compared_lines[0].numbers.index(2) == chart.lines[0].numbers.index(3)
    figure = plotly_figures.draw_lines(chart, unit="outcomes")
    assert [trace["name"] for trace in figure["data"]][2:] == ["purchase, previous period", "renewal, previous period"]
    plotly.graph_objects.Figure({**figure, "data": [{**line, "line": {}} for line in figure["data"]]})


def test_of_many_keys_only_the_top_key_is_drawn_with_its_previous_period(production):
    now = timezone.now()
    for moment in (now - timedelta(days=7), now):
        reach_keys(production, {f"k{n}": 9 - n for n in range(4)}, now=moment)
    assert [line.key for line in chart_of(production).compared_lines] == ["k0"]


def test_the_table_of_a_chart_escapes_markup():
    now = timezone.now()
    rows = [(Bucket(now, now, "Mon 2 Mar"), [1234567, 0]), (Bucket(now, now, "<b>"), [-3])]
    assert [row.strip() for row in render_rows(rows).splitlines()][:2] == [
        '<tr><th scope="row" class="nowrap">Mon 2 Mar</th><td class="num">1,234,567</td><td class="num">0</td></tr>',
        '<tr><th scope="row" class="nowrap">&lt;b&gt;</th><td class="num">-3</td></tr>',
    ]


def move_purchases_to(staging, production, now):
    """Move two purchases and a refund to staging. Staging has 4 purchases of its own, and had 2 in the week before."""
    names = [f"id {number}" for number in range(7)]
    register_conversations(staging, [Arrival(name) for name in [*names, "old 1", "old 2"]], now=now)
    record_outcomes(staging, [Report("old 1", "purchase"), Report("old 2", "purchase")], now=now - timedelta(days=7))
    record_outcomes(staging, [Report(name, "purchase") for name in names[:4]], now=now)
    reports = [Report("id 4", "purchase"), Report("id 5", "purchase"), Report("id 6", "refund")]
    record_outcomes(production, reports, now=now)
    return move_broken_joins(production, staging, parse_period({}, now=now), actor="ann", now=now)


def read_page(client, address):
    return " ".join(re.sub("<[^>]*>", " ", client.get(address).content.decode()).split())


def test_outcomes_that_were_moved_here_are_left_out_of_changes_in_all_and_by_key(production, workspace, browser_client):
    staging, now = workspace.workspace.environments.get(name="staging"), timezone.now()
    move = move_purchases_to(staging, production, now)
    assert move.outcomes == 3
    page_of_staging = PAGE.replace("production", "staging")
    page = read_page(browser_client, f"{page_of_staging}?range=7d")
    assert "Outcomes 7 2× without the 3 moved here, against the 7 days before" in page
    assert "0 % of 7 reported 3 moved here from production" in page
    assert "purchase 6 2 moved here 2 2× without them" in page
    assert "refund 1 1 moved here 0 – without them" in page
    page = read_page(browser_client, f"{page_of_staging.replace('outcomes', 'outcome')}?key=purchase&range=7d")
    assert "Outcomes 6 2× without the 2 moved here, against the 7 days before" in page
    rows = read_tables(browser_client.get(f"{page_of_staging}.json?range=7d"))["keys"]
    columns = ("outcomeKey", "outcomes", "outcomesBefore", "change", "movedHere")
    assert [tuple(row[column] for column in columns) for row in rows] == [
        ("purchase", 6, 2, 1.0, 2),
        ("refund", 1, 0, None, 1),
    ]
    assert "3 moved to staging" in read_page(browser_client, f"{PAGE}?range=7d")
    for query, words in (("range=all", "of all time, 3 moved here"), ("compare=none", "in this period, 3 moved here")):
        assert words in read_page(browser_client, f"{page_of_staging}?{query}")
    undo_move(move, actor="ann", now=now)
    assert "moved" not in read_page(browser_client, f"{page_of_staging}?range=7d")


def test_the_keys_of_the_folded_tail_are_compared_together_without_moves(production, workspace, monkeypatch):
    monkeypatch.setattr(outcomes_page, "UNFOLDED_KEYS", 1)
    staging, now = workspace.workspace.environments.get(name="staging"), timezone.now()
    reach_keys(staging, {"a": 9, "b": 3, "c": 2}, now=now)
    move_purchases_to(staging, production, now)
    analytics = Analytics(staging, parse_period({"range": "7d"}, now=now), KeyFilters())
    assert [row.key for row in analytics.rows] == ["a"]
    moves = analytics.leave_out_moves(analytics.folded_tail)
    assert (moves.value, moves.previous, moves.moved_here) == (3 + 2 + 4, 2, 3)
