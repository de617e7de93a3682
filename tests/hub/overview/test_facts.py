"""The numbers of the overview are those of the pages that they link to, and are compared with the period before."""

import json
import re
from datetime import timedelta
from html import unescape

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from hub.overview.facts import Fact
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from outcomes.broken_joins.moves.move import move_broken_joins, undo_move
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from tests.hub.overview.overview_page import add_data_of_last_year, read_export
from tests.page_text import read_html
from tests.sample_data import fill_workspace
from wire.time.period import parse_period
from workspaces.templatetags.numbers import SMALLEST_POINTS


def test_the_numbers_equal_those_of_the_linked_pages(browser_client, api, workspace):
    start = fill_workspace(workspace, api)
    overview = browser_client.get(f"{start}/overview").context
    facts = {fact.name: fact for fact in overview["facts"]}
    outcomes, rejections = (browser_client.get(f"{start}/{name}").context for name in ("outcomes", "rejections"))
    assert facts["outcomes"].value == outcomes["totals"].outcomes > 0
    assert facts["brokenJoins"].value == outcomes["totals"].broken > 0
    assert facts["rejections"].value == rejections["rejected"] > 0
    assert overview["figure"] == outcomes["figure"]
    assert facts["operations"].value == browser_client.get(f"{start}/catalog").context["operations"].paginator.count


@pytest.mark.parametrize("query", ["", "range=all", "from=2020-01-01&to=2020-01-02"])
def test_new_and_changed_operations_link_to_their_list(browser_client, api, workspace, query):
    start = fill_workspace(workspace, api)
    page = browser_client.get(f"{start}/overview?{query}")
    operations = next(fact for fact in page.context["facts"] if fact.name == "operations")
    links = re.findall(r'<a class="nowrap" href="([^"]+)">([0-9]+) (new|changed)</a>', page.content.decode())
    assert [(int(count), word) for _, count, word in links] == [(part.count, part.word) for part in operations.parts]
    assert [word for _, _, word in links] == ([] if "2020" in query else ["new", "changed"])
    for address, count, _ in links:
        assert browser_client.get(unescape(address)).context["operations"].paginator.count == int(count)


def test_previous_numbers_are_exported_only_if_there_were_data_before(browser_client, api, workspace, production):
    assert api.post("/api/conversations", {"conversations": [{"conversationId": "conv_1"}]}).status_code == 200
    record_verifications(production, [Verification("expired", timezone.now())])
    facts = read_export(browser_client, "facts")
    assert {(fact["before"], fact["beforeOf"]) for fact in facts} == {(None, None)}
    add_data_of_last_year(workspace, api)
    facts = {fact["fact"]: (fact["before"], fact["beforeOf"]) for fact in read_export(browser_client, "facts")}
    assert facts == {
        "conversations": (0, None), "outcomes": (0, None), "brokenJoins": (0, 0), "rejections": (0, 0),
        "operations": (None, None),
    }  # fmt: skip


@pytest.mark.parametrize("is_new", [False, True])
def test_every_page_uses_the_same_words_if_there_is_no_previous_data(browser_client, api, workspace, is_new):
    start = fill_workspace(workspace, api)
    if not is_new:
        add_data_of_last_year(workspace, api)
    words = "no data before <time" if is_new else "none in the 7 days before"
    overview = read_html(browser_client.get(f"{start}/overview")).partition("<main")[2]
    assert overview.count("data since <time") == is_new  # once, in the head of the page
    assert "no data before" not in overview.lower()
    assert overview.count("none before") >= (0 if is_new else 4)
    for page, times in (
        ("outcomes", 2),
        ("outcome?key=purchase", 1),
        ("rejections", 3 if is_new else 4),
    ):
        html = read_html(browser_client.get(f"{start}/{page}"))
        assert html.partition("<main")[2].count(words) >= times, page
        assert " against " not in html.partition('class="card facts"')[2].partition("</section>")[0]


@given(st.integers(1, 10_000), st.integers(1, 10_000), st.data())
def test_points_are_the_difference_of_the_displayed_rates_unless_the_exact_ones_hardly_differ(
    total, previous_total, data
):
    value, previous = data.draw(st.integers(0, total)), data.draw(st.integers(0, previous_total))
    fact = Fact("brokenJoins", "Broken joins", "joins", value, total, previous, previous_total)
    rate, previous_rate = 100 * value / total, 100 * previous / previous_total
    points = 0.0 if fact.points == "±0" else float(fact.points.replace("−", "-"))
    displayed_difference = round(rate, 1) - round(previous_rate, 1)
    hardly_differ = abs(rate - previous_rate) < SMALLEST_POINTS
    assert points == pytest.approx(0.0 if hardly_differ else displayed_difference, abs=1e-6)


def test_rates_on_both_sides_of_a_rounding_limit_do_not_differ():
    """28.856 % and 28.829 % are written as 28.9 % and 28.8 %."""
    assert Fact("brokenJoins", "Broken joins", "joins", 58, 201, 128, 444).points == "±0"


def read_words(html):
    """Return what a reader sees of HTML: nothing in place of `</span>`, and a space in place of any other tag."""
    words = re.sub(r"</span>|<[^>]*>", lambda tag: "" if tag[0] == "</span>" else " ", html)
    return " ".join(words.split())


def test_a_broken_rate_that_a_move_changed_did_not_fall(overview, browser_client, workspace):
    """Both periods are compared by what was reported in them, and the tile says what was moved."""
    production, staging = (workspace.workspace.environments.get(name=name) for name in ("production", "staging"))
    now = timezone.now()
    for when in (now - timedelta(days=7), now):
        names = [f"{when:%d}-{number}" for number in range(20)]
        register_conversations(production, [Arrival(name) for name in names[:15]], now=when)
        register_conversations(staging, [Arrival(name) for name in names[15:]], now=when)
        record_outcomes(production, [Report(name, "purchase") for name in names], now=when)
    register_conversations(production, [Arrival("begin")], now=now - timedelta(days=20))
    page = read_words(overview("?range=7d"))
    assert "5 of 20; ±0 points" in page
    move = move_broken_joins(production, staging, parse_period({}, now=now), actor="ann", now=now)
    assert move.outcomes == 5
    page = read_words(overview("?range=7d"))
    moves = "5 moved to staging; with them 25.0 %, ±0 points"
    assert f"0 of 15 {moves}" in page
    joins = browser_client.get("/w/lumen-books/production/joins?range=7d").content.decode()
    joins = read_words(joins)
    assert f"of 15 reported {moves} against the 7 days before" in joins
    facts = {fact["fact"]: (fact["movedHere"], fact["movedAway"]) for fact in read_export(browser_client, "facts")}
    assert facts["brokenJoins"] == (0, 5)
    assert (facts["outcomes"], facts["rejections"]) == ((0, None), (None, None))
    undo_move(move, actor="ann", now=now)
    assert "moved" not in overview("?range=7d")


def test_outcomes_that_were_moved_here_are_no_rise(browser_client, workspace):
    """The period before contains no outcomes that were moved here."""
    production, staging = (workspace.workspace.environments.get(name=name) for name in ("production", "staging"))
    now = timezone.now()
    for when, count in ((now - timedelta(days=7), 4), (now, 3)):
        names = [f"{when:%d}-{number}" for number in range(5)]
        register_conversations(staging, [Arrival(name) for name in names], now=when)
        record_outcomes(staging, [Report(name, "purchase") for name in names[:count]], now=when)
    record_outcomes(production, [Report(f"{now:%d}-{number}", "purchase") for number in (3, 4)], now=now)
    register_conversations(staging, [Arrival("begin")], now=now - timedelta(days=20))
    move = move_broken_joins(production, staging, parse_period({}, now=now), actor="ann", now=now)
    assert move.outcomes == 2
    html = browser_client.get("/w/lumen-books/staging/overview?range=7d").content.decode()
    page = read_words(html)
    assert "Outcomes 5 −25.0 % without the 2 moved here" in page
    assert "0 of 5 2 moved here from production; without them 0 %, ±0 points" in page
    assert not re.search(r'class="nowrap (up|down)">\s*−25', html)  # with the moves there are more
    tables = json.loads(browser_client.get("/w/lumen-books/staging/overview.json").getvalue())["tables"]
    facts = {fact["fact"]: (fact["movedHere"], fact["movedAway"]) for fact in tables["facts"]}
    assert (facts["outcomes"], facts["brokenJoins"]) == ((2, None), (2, 0))
