"""Broken joins that were first reported before the period and reported again in it."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from outcomes.broken_joins.queries import find_broken_joins, sort_by_last_report
from outcomes.broken_joins.reported_again import find_reported_again, read_reported_again
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from tests.page_text import read_html
from tests.read_tables import read_tables
from wire.time.period import parse_period

PAGE = "/w/lumen-books/production/joins"
DAY = timedelta(days=1)


@pytest.fixture
def production(workspace):
    """Report four outcomes without a conversation 30 days ago; one heals. Report it and two others again lately."""
    environment = workspace.workspace.environments.get(name="production")
    now = timezone.now()
    again = [Report("{{conversationId}}", "purchase"), Report("lost", "refund"), Report("late", "purchase")]
    record_outcomes(environment, [*again, Report("quiet", "purchase")], now=now - 30 * DAY)
    register_conversations(environment, [Arrival("late")], now=now - 29 * DAY)
    record_outcomes(environment, again[:2], now=now - timedelta(hours=2))
    record_outcomes(environment, [again[0], again[2]], now=now - timedelta(minutes=3))
    return environment


def read(client, query=""):
    return read_html(client.get(f"{PAGE}{query}"))


def read_ids(client, query):
    return [row["conversationId"] for row in read_tables(client.get(f"{PAGE}.json{query}"))["broken"]]


def test_older_joins_that_were_reported_again_are_listed_by_cause_with_the_latest(production, browser_client):
    record_outcomes(production, [Report("new", "purchase")], now=timezone.now())
    text = read(browser_client, "?range=24h")
    card = text.partition("<h2>Causes</h2>")[2].partition("</section>")[0]
    line = card.partition('id="again"')[2]
    words = " ".join(re.sub("<[^>]+>", " ", line).split())
    assert "2 older broken joins were reported again in this period: " in words
    assert "never seen 1" in words
    assert "placeholder 1" in words
    assert re.search(r"1 ; last 3 min ago : \{\{conversationId\}\} with purchase", words)
    link = re.search(r'<a href="([^"]+)"> Show them</a>', line)
    assert link is not None
    listed = read(browser_client, link[1].partition("#")[0].replace("&amp;", "&"))
    section = listed.partition('id="joins"')[2].partition("</section>")[0]
    assert re.findall(r'<th scope="row"[^>]*> <a [^>]*><code>([^<]*)</code>', section) == ["{{conversationId}}", "lost"]
    assert "1 to 2 of 2 broken joins" in section
    assert "first reported before this period, and again in it; latest report first" in section


def test_the_causes_keep_their_counts_and_have_the_last_report_of_older_joins_too(production, browser_client):
    now = timezone.now()
    record_outcomes(production, [Report("undefined", "purchase")], now=now - timedelta(hours=1))
    (row,) = read_tables(browser_client.get(f"{PAGE}.json?range=24h"))["diagnoses"]
    assert (row["diagnosis"], row["brokenJoins"]) == ("placeholder", 1)
    assert now.timestamp() - row["lastReportedAt"] < 600
    assert re.search(r"last <time [^>]*>3 min ago</time>", read(browser_client, "?range=24h"))


@pytest.mark.parametrize("query", ["?range=24h", "?range=7d"])
def test_a_period_with_nothing_new_shows_what_was_reported_again(production, browser_client, query):
    text = read(browser_client, query)
    assert "Nothing was reported in this period" not in text
    assert "2 older broken joins" in text
    assert text.count('id="joins"') == 1
    register_conversations(production, [Arrival("known")], now=timezone.now())
    record_outcomes(production, [Report("known", "purchase")], now=timezone.now())
    text = read(browser_client, query)
    assert "No broken joins in this period" in text
    assert "2 older broken joins" in text
    assert read(browser_client, f"{query}&again=1").count('id="joins"') == 1


def test_the_download_has_the_same_filter(production, browser_client):
    assert read_ids(browser_client, "?range=24h&again=1") == ["{{conversationId}}", "lost"]
    assert read_ids(browser_client, "?range=24h&again=1&why=placeholder") == ["{{conversationId}}"]
    assert read_ids(browser_client, "?range=24h&again=1&key=refund") == ["lost"]
    assert read_ids(browser_client, "?range=24h") == []
    assert read_ids(browser_client, "?range=all&again=1") == []
    assert browser_client.get(f"{PAGE}.json?again=yes").status_code == 400
    assert browser_client.get(f"{PAGE}.json?sort=nonsense").status_code == 400


def test_a_period_of_all_time_has_no_older_joins(production, browser_client):
    assert "older broken join" not in read(browser_client, "?range=all")


@pytest.mark.parametrize("filters", ["", "&key=purchase"])
def test_the_list_can_begin_with_the_latest_report(production, browser_client, filters):
    record_outcomes(production, [Report("newer", "purchase")], now=timezone.now() - DAY)
    ids = [id_ for id_ in ("{{conversationId}}", "lost", "newer", "quiet") if not filters or id_ != "lost"]
    assert read_ids(browser_client, f"?range=all&sort=last{filters}") == ids
    text = read(browser_client, f"?range=all&sort=last{filters}")
    section = text.partition('id="joins"')[2].partition("</section>")[0]
    assert re.findall(r'<th scope="row"[^>]*> <a [^>]*><code>([^<]*)</code>', section) == ids
    assert '<th scope="col">Last report</th>' in section


def test_older_joins_of_a_key_alone_are_counted_with_its_filter(production, browser_client):
    """With the filter `key=`, only older joins of this outcome key are counted."""
    text = re.sub("<[^>]+>", " ", read(browser_client, "?range=24h&key=refund"))
    assert "1 older broken join was reported again in this period: never seen 1" in " ".join(text.split())


def test_more_joins_than_are_diagnosed_are_counted(production, monkeypatch):
    monkeypatch.setattr("outcomes.broken_joins.reported_again.NEWEST_DIAGNOSED", 1)
    again = read_reported_again(production, parse_period({"range": "24h"}, now=timezone.now()))
    assert (again.count, len(again.joins), again.is_partial) == (2, 1, True)


def test_both_orders_by_last_report_read_an_index(production):
    period = parse_period({"range": "7d"}, now=timezone.now())
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off")
    for joins in (find_reported_again(production, period), sort_by_last_report(find_broken_joins(production, period))):
        assert "_last_report" in joins[:500].explain()
