"""The page of one key and its downloads."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.utils import timezone

from outcomes.analytics import conversations_of_key
from outcomes.analytics.conversations_of_key import select_conversations
from outcomes.analytics.exports import CONVERSATION_COLUMNS
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from tests.page_text import read_html
from tests.read_tables import read_rows, read_tables
from wire.postgresql.copy_csv import read_in_order
from wire.table_exports import Table, stream_csv
from wire.time.period import parse_period

PAGE = "/w/lumen-books/production/outcome"
TIMES = ["started_at", "first_reported_at", "last_reported_at", "healed_at"]


@pytest.fixture
def production(workspace):
    """Report 130 purchases, each 10 minutes after its conversation's start, one renewal and one broken join."""
    production = workspace.workspace.environments.get(name="production")
    now = timezone.now()
    ids = [f"c{n:03}" for n in range(130)]
    register_conversations(production, [Arrival(id_, now - timedelta(minutes=10)) for id_ in ids], now=now)
    for start in range(0, 130, 10):
        record_outcomes(production, [Report(id_, "purchase") for id_ in ids[start : start + 10]], now=now)
    record_outcomes(production, [Report("c000", "renewal"), Report("gone", "purchase")], now=now)
    return production


def test_page_json_and_csv_have_the_same_numbers(production, browser_client):
    html = browser_client.get(f"{PAGE}?key=purchase").content.decode()
    tables = read_tables(browser_client.get(f"{PAGE}.json?key=purchase"))
    assert sum(line["outcomes"] for line in tables["series"]) == len(tables["conversations"]) == 130
    assert {line["lag"]: line["outcomes"] for line in tables["lag"] if line["outcomes"]} == {"5 to 15 min": 130}
    assert [line["share"] for line in tables["lag"]] == [1.0 if line["outcomes"] else 0.0 for line in tables["lag"]]
    assert {line["lagSeconds"] for line in tables["conversations"]} == {600}
    csv = read_rows(browser_client.get(f"{PAGE}.csv?key=purchase&table=conversations"))
    assert [row["conversationId"] for row in csv] == [row["conversationId"] for row in tables["conversations"]]
    assert "all 130 outcomes" in html
    assert "10 min" in html


@pytest.fixture
def staging(workspace, production):
    """Report one purchase in one of four conversations of staging."""
    staging = workspace.workspace.environments.get(name="staging")
    now = timezone.now()
    register_conversations(staging, [Arrival(f"s{n}", now - timedelta(minutes=10)) for n in range(4)], now=now)
    record_outcomes(staging, [Report("s0", "purchase")], now=now)
    return staging


def test_a_key_is_compared_with_another_environment_as_its_row_was(staging, browser_client):
    rows = browser_client.get("/w/lumen-books/production/outcomes?compare=staging").content.decode()
    (link,) = {unescape(link) for link in re.findall(r'href="([^"]+key=purchase[^"]*)"', rows)}
    html = read_html(browser_client.get(link))
    assert '<option value="staging" selected>staging</option>' in html
    assert "1 in staging" in html
    assert "of 130 that started in this period; 25.0 % in staging" in html
    assert "dotted: staging" in html
    tables = read_tables(browser_client.get(link.replace("outcome?", "outcome.json?")))
    assert sum(row["outcomesBeside"] for row in tables["series"]) == 1
    assert {row["outcomesBefore"] for row in tables["series"]} == {None}
    assert [(row["period"], row["conversations"]) for row in tables["totals"]] == [("now", 130), ("beside", 4)]


@pytest.mark.parametrize(("compare", "selected"), [("none", "nothing"), ("", None), ("nowhere", None)])
def test_a_key_is_compared_with_nothing_or_the_previous_period(staging, browser_client, compare, selected):
    response = browser_client.get(f"{PAGE}?key=purchase&compare={compare}")
    assert response.context["comparison"].kind == (selected or "previous")
    assert "in staging" not in response.content.decode()


def test_paging_lists_each_conversation_once(production, browser_client):
    conversation_ids, cursor = [], ""
    while True:
        response = browser_client.get(PAGE, {"key": "purchase", "cursor": cursor})
        rows = response.context["rows"]
        conversation_ids += [row.conversation_id for row in rows]
        position = f"{len(conversation_ids) - len(response.context['rows']) + 1} to {len(conversation_ids)} of 130;"
        assert position in read_html(response)
        cursor = response.context["older_cursor"]
        if not cursor:
            break
        assert len(rows) == 20
    assert sorted(conversation_ids) == [f"c{n:03}" for n in range(130)]


def test_the_download_of_all_keys_has_all_rows(production, browser_client, monkeypatch):
    monkeypatch.setattr(conversations_of_key, "ROWS_AT_ONCE", 7)
    rows = read_rows(browser_client.get(f"{PAGE}.csv?table=conversations"))
    assert len({(row["conversationId"], row["outcomeKey"]) for row in rows}) == len(rows) == 131


@pytest.mark.parametrize("key", ["", "purchase"])
def test_a_download_is_streamed_without_one_sort_of_all_rows(production, key):
    rows = select_conversations(production, parse_period({"range": "30d"}, now=timezone.now()), key)
    with read_in_order() as connection, connection.cursor() as cursor:
        cursor.execute("ANALYZE outcomes_outcome, outcomes_conversation")
        cursor.execute(f"EXPLAIN {rows.write_select(TIMES)}", rows.parameters)
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert not re.search(r"(?<!Incremental )Sort  \(", plan), plan
    assert "Hash" not in plan


@pytest.mark.parametrize("key", ["", "purchase"])
def test_several_processes_of_postgresql_can_write_the_cells_of_a_download(production, key):
    rows = select_conversations(production, parse_period({"range": "30d"}, now=timezone.now()), key)
    with read_in_order() as connection, connection.cursor() as cursor:
        cursor.execute("ANALYZE outcomes_outcome, outcomes_conversation")
        cursor.execute("SET LOCAL parallel_setup_cost = 0; SET LOCAL parallel_tuple_cost = 0")
        cursor.execute("SET LOCAL min_parallel_table_scan_size = 0; SET LOCAL min_parallel_index_scan_size = 0")
        cursor.execute(f"EXPLAIN (VERBOSE) {rows.write_select(TIMES)}", rows.parameters)
        first_node, _, later_nodes = "\n".join(row[0] for row in cursor.fetchall()).partition("->")
    assert first_node.startswith("Gather Merge"), first_node
    assert "make_interval" in later_nodes


@pytest.mark.parametrize("environment_name", ["production", "staging"])
def test_a_download_holds_odd_text_in_the_order_of_the_text_itself(workspace, browser_client, environment_name):
    environment = workspace.workspace.environments.get(name=environment_name)
    now = timezone.now()
    odd = ["=1+1", "'", "-a", "a;=b", 'say "yes"', "two\nlines", "back\\slash", "ümlaut,=x", "＝wide", "\u3000@", "\\."]
    register_conversations(environment, [Arrival(text, now - timedelta(minutes=1)) for text in odd], now=now)
    record_outcomes(environment, [Report(text, key) for text in odd for key in odd], now=now)
    address = f"/w/lumen-books/{environment_name}/outcome"
    tables = read_tables(browser_client.get(f"{address}.json"))
    rows = [[row[name] for name in CONVERSATION_COLUMNS] for row in tables["conversations"]]
    assert [row[1] for row in rows] == sorted((row[1] for row in rows), key=str.encode, reverse=True)
    assert len(rows) == len(odd) ** 2
    written = stream_csv([Table("conversations", CONVERSATION_COLUMNS, lambda: rows)], None, "f").getvalue()
    assert browser_client.get(f"{address}.csv?table=conversations").getvalue() == written


def test_far_back_a_page_has_no_number(production, browser_client, monkeypatch):
    monkeypatch.setattr(conversations_of_key, "MAX_COUNTED", 15)
    older = browser_client.get(PAGE, {"key": "purchase"}).context["older_cursor"]
    page = browser_client.get(PAGE, {"key": "purchase", "cursor": older}).content.decode()
    assert "<span> 20 of 130; the download has all. </span>" in " ".join(page.split())


def test_reports_from_before_the_start_are_explained(production, browser_client):
    now = timezone.now()
    assert "Before the start:" not in browser_client.get(PAGE, {"key": "purchase"}).content.decode()
    register_conversations(production, [Arrival("gone", now)], now=now)
    page = read_html(browser_client.get(PAGE, {"key": "purchase"}))
    assert "Before the start: 1 first report was received before the moment at which" in page


@pytest.mark.parametrize("cursor", ["x", "-", "1-", "9" * 40 + "-1", "1-" + "9" * 30, "²-²"])
def test_an_invalid_cursor_shows_the_first_page(production, browser_client, cursor):
    response = browser_client.get(PAGE, {"key": "purchase", "cursor": cursor})
    assert len(response.context["rows"]) == 20


@pytest.mark.parametrize("key", ["", "unheard of", "<b>", "\0", "x" * 300, "%s"])
def test_any_key_has_a_page(production, browser_client, key):
    html = browser_client.get(PAGE, {"key": key})
    assert html.status_code == 200
    assert b"<b></h1>" not in html.content


def test_keys_with_similar_names_are_pointed_out(production, browser_client):
    record_outcomes(production, [Report("c001", "Purchase ")], now=timezone.now())
    assert "differs only by case" in browser_client.get(f"{PAGE}?key=purchase").content.decode()


def test_an_outsider_sees_nothing(production, api, client, other_workspace):
    for address in (f"{PAGE}?key=purchase", f"{PAGE}.json?key=purchase", f"{PAGE}.csv?table=conversations"):
        assert api.get(address, key=other_workspace.full_key).status_code == 404
    assert client.get(f"{PAGE}?key=purchase").status_code == 302
    foreign_address = "/w/other-shop/production/outcome.json?key=purchase"
    tables = read_tables(api.get(foreign_address, key=other_workspace.full_key))
    assert tables["conversations"] == []
