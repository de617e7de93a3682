"""The funnel between outcome keys, compared with a count by hand."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from itertools import pairwise

import pytest
from django.db import connection
from django.utils import timezone

from outcomes.analytics import funnel as funnels
from outcomes.analytics.funnel import read_funnel, read_lost
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from outcomes.models import Outcome
from tests.page_text import read_html
from wire.time.period import parse_period

NOW = datetime(2026, 3, 15, 12, tzinfo=UTC)
KEYS = ("cart", "purchase", "refund", "renewal")
PAGE = "/w/lumen-books/production/outcomes"
pytestmark = pytest.mark.django_db


def report(environment, conversation, key, *, hours):
    record_outcomes(environment, [Report(conversation, key)], now=NOW - timedelta(hours=hours))


def register(environment, *conversations):
    arrivals = [Arrival(name, NOW - timedelta(days=20)) for name in conversations]
    register_conversations(environment, arrivals, now=NOW - timedelta(days=20))


def follow_by_hand(environment, period, keys):
    """Return for each step the ids of the conversations that reached it, by reading all rows."""
    times = {}
    for row in Outcome.objects.filter(environment=environment, broken=False).select_related("conversation"):
        times.setdefault(row.conversation.conversation_id, {})[row.outcome_key] = row.first_reported_at
    steps = [set() for _ in keys]
    for conversation, reached in times.items():
        if keys[0] not in reached or not period.start <= reached[keys[0]] < period.end:
            continue
        steps[0].add(conversation)
        for number, (before, key) in enumerate(pairwise(keys), 1):
            if key not in reached or reached[key] < reached[before]:
                break
            steps[number].add(conversation)
    return steps


def counts_of(funnel):
    return [step.conversations for step in funnel.steps]


@pytest.mark.parametrize("seed", range(5))
def test_the_numbers_are_those_of_a_count_by_hand(production, seed):
    chance = random.Random(seed)
    names = [f"c{number}" for number in range(60)]
    register(production, *names[:50])  # ten names stay unknown: their outcomes are broken joins
    for name in names:
        for key in chance.sample(KEYS, chance.randint(0, len(KEYS))):
            report(production, name, key, hours=chance.choice([1, 1, 2, 30, 100, 300]))
    period = parse_period({"range": "7d"}, now=NOW)
    for steps in (KEYS[:2], KEYS[1::-1], KEYS[:3], KEYS):
        followed = follow_by_hand(production, period, steps)
        funnel = read_funnel(production, period, steps)
        assert counts_of(funnel) == [len(names) for names in followed]
        for step, (before, reached) in zip(funnel.steps[1:], pairwise(followed), strict=True):
            lost = read_lost(production, period, steps, step.number, limit=None)
            assert {row.conversation_id for row in lost} == before - reached
            assert len(lost) == step.lost_conversations
            assert [row.reached_at for row in lost] == sorted((row.reached_at for row in lost), reverse=True)


def test_an_outcome_before_the_first_key_is_no_step_but_one_at_the_same_time_is(production):
    register(production, "a", "b", "c")
    report(production, "a", "cart", hours=5)
    report(production, "a", "purchase", hours=6)
    report(production, "b", "cart", hours=5)
    report(production, "b", "purchase", hours=5)
    report(production, "c", "cart", hours=5)
    funnel = read_funnel(production, parse_period({}, now=NOW), ("cart", "purchase"))
    assert (counts_of(funnel), funnel.total, funnel.is_cut) == ([3, 1], 3, False)


def test_lost_conversations_that_reached_the_previous_key_in_the_last_day_are_counted_as_recent(
    browser_client, production
):
    """The step has lost these conversations so far, but they may still reach it."""
    register(production, "a", "b", "c", "d")
    for name, hours in (("a", 1), ("b", 23), ("c", 30), ("d", 2)):
        report(production, name, "cart", hours=hours)
    report(production, "d", "purchase", hours=1)
    funnel = read_funnel(production, parse_period({}, now=NOW), ("cart", "purchase"))
    assert [(step.lost_conversations, step.recent) for step in funnel.steps] == [(0, 0), (3, 2)]


def test_the_page_says_how_many_reached_the_step_before_only_lately(browser_client, production):
    """Of the conversations that have not reached a step yet, some reached the previous step in the last 24 hours."""
    now = timezone.now()
    register_conversations(production, [Arrival(name) for name in "abc"], now=now)
    record_outcomes(production, [Report(name, "cart") for name in "ab"], now=now - timedelta(hours=2))
    record_outcomes(production, [Report("c", "cart")], now=now - timedelta(hours=40))
    html = browser_client.get(f"{PAGE}?step=cart&step=purchase").content.decode()
    text = " ".join(re.sub(r"<[^>]*>", " ", html.partition('id="funnel"')[2]).split())
    assert "Not reached yet" in text
    assert "3 (100 %) 2 of them in the last 24 hours" in text
    assert "Lost" not in text


@pytest.mark.parametrize("query", ["step=cart", "step=cart&step=cart"])
def test_the_page_says_that_one_key_alone_is_no_funnel(browser_client, production, query):
    record_outcomes(production, [Report("a", "cart")], now=timezone.now())
    html = browser_client.get(f"{PAGE}?{query}").content.decode()
    assert "A funnel needs at least two different keys" in html.partition('id="funnel"')[2]
    assert "two different keys" not in browser_client.get(PAGE).content.decode()
    assert "two different keys" not in browser_client.get(f"{PAGE}?step=cart&step=purchase").content.decode()


@pytest.mark.parametrize("query", ["step=cart", "step=cart&step=cart"])
def test_a_download_refuses_one_key_alone_and_no_link_of_the_page_leads_to_it(browser_client, production, query):
    record_outcomes(production, [Report("a", "cart")], now=timezone.now())
    for ending in (".json", ".csv"):
        answer = browser_client.get(f"{PAGE}{ending}?{query}")
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid-request")
        assert "needs at least 2 different values of step, or none" in answer.json()["detail"]
    html = browser_client.get(f"{PAGE}?{query}").content.decode()
    links = [unescape(link) for link in re.findall(r'href="([^"]*outcomes\.(?:csv|json)[^"]*)"', html)]
    assert len(links) > 2
    for link in links:
        download = browser_client.get(link)
        assert download.status_code == 200, link
        download.getvalue()  # an unread download would close the connection


def test_fewer_than_two_keys_are_no_funnel_and_an_unknown_key_has_no_conversations(production):
    register(production, "a")
    report(production, "a", "cart", hours=5)
    period = parse_period({}, now=NOW)
    assert read_funnel(production, period, ()) is None
    assert read_funnel(production, period, ("cart",)) is None
    assert counts_of(read_funnel(production, period, ("cart", "nowhere"))) == [1, 0]
    assert counts_of(read_funnel(production, period, ("nowhere", "cart"))) == [0, 0]


def test_only_the_latest_conversations_are_followed_and_the_page_says_so(browser_client, production, monkeypatch):
    monkeypatch.setattr(funnels, "MAX_CONVERSATIONS", 2)
    now = timezone.now()
    register_conversations(production, [Arrival(name) for name in "abc"], now=now)
    for number, name in enumerate("abc"):
        record_outcomes(production, [Report(name, "cart")], now=now - timedelta(minutes=number))
    record_outcomes(production, [Report("c", "purchase"), Report("b", "purchase")], now=now)
    funnel = read_funnel(production, parse_period({}, now=now), ("cart", "purchase"))
    assert (counts_of(funnel), funnel.followed_conversations, funnel.total, funnel.is_cut) == ([2, 1], 2, 3, True)
    words = read_html(browser_client.get(f"{PAGE}?step=cart&step=purchase"))
    assert "of the latest 2 of 3 conversations that reached <code>cart</code>" in words


def test_the_page_and_its_downloads_show_the_same(browser_client, production):
    now = timezone.now()
    register_conversations(production, [Arrival(name) for name in "abcd"], now=now)
    carts = [Report(name, "cart") for name in "abcd"]
    record_outcomes(production, [*carts, Report("a", "<b>"), Report("b", "purchase")], now=now)
    query = "?step=cart&step=%3Cb%3E&step=cart&step=&step=purchase"
    html = browser_client.get(f"{PAGE}{query}").content.decode().partition('id="funnel"')[2]
    assert html.index("<code>cart</code>") < html.index("<code>&lt;b&gt;</code>") < html.index("<code>purchase</code>")
    assert ">25.0 %<" in "".join(html.split("\n")).replace("  ", "")
    assert ">3 (75.0 %)<" in "".join(html.split("\n")).replace("  ", "")
    assert html.count("<meter") == 3
    tables = browser_client.get(f"{PAGE}.json{query}")
    rows = json.loads(b"".join(tables))["tables"]["funnel"]
    assert [list(row.values()) for row in rows] == [
        [1, "cart", 4, None, None, None, None, 1.0, 4, 4],
        [2, "<b>", 1, 4, 0.25, 3, 3, 0.25, 4, 4],
        [3, "purchase", 0, 1, 0.0, 1, 1, 0.0, 4, 4],
    ]
    text = b"".join(browser_client.get(f"{PAGE}.csv{query}&table=funnel")).decode()
    assert [row["conversations"] for row in csv.DictReader(io.StringIO(text))] == ["4", "1", "0"]


def test_what_a_step_lost_is_listed_and_downloaded(browser_client, production):
    now = timezone.now()
    names = [f"conv_{number:02}" for number in range(23)]
    register_conversations(production, [Arrival(name) for name in names], now=now)
    for number, name in enumerate(names):
        record_outcomes(production, [Report(name, "cart")], now=now - timedelta(minutes=number))
    record_outcomes(production, [Report("conv_00", "purchase")], now=now)
    query = "?step=cart&step=purchase"
    html = browser_client.get(f"{PAGE}{query}").content.decode()
    assert 'id="lost"' not in html
    link = unescape(re.search(r'href="(\?[^"]+)#lost">22 \(95.7 %\)<', html)[1])
    listed = browser_client.get(f"{PAGE}{link}").content.decode().partition('id="lost"')[2]
    assert re.findall(r"<code>(conv_\d\d)</code>", listed) == names[1:21]  # the latest first
    assert "The latest 20 of 22; the download has all." in " ".join(listed.split())
    tables = json.loads(b"".join(browser_client.get(f"{PAGE}.json{link}")))["tables"]
    assert [row["conversationId"] for row in tables["lost"]] == names[1:]
    assert set(tables["lost"][0]) == {"step", "outcomeKey", "conversationId", "stepBeforeAt"}


@pytest.mark.parametrize("lost", ["0", "1", "3", "99", "x", "-2"])
def test_the_first_step_and_one_that_does_not_exist_list_no_lost_conversations(browser_client, production, lost):
    now = timezone.now()
    register_conversations(production, [Arrival("a")], now=now)
    record_outcomes(production, [Report("a", "cart")], now=now)
    query = f"?step=cart&step=purchase&lost={lost}"
    assert 'id="lost"' not in browser_client.get(f"{PAGE}{query}").content.decode()
    download = browser_client.get(f"{PAGE}.json{query}")
    if lost == "1":  # before the first step nobody is lost
        assert json.loads(b"".join(download))["tables"]["lost"] == []
    else:  # a download refuses what it cannot filter by
        assert (download.status_code, "lost" in download.json()["detail"]) == (400, True)


def test_without_keys_only_the_form_of_the_funnel_is_shown(browser_client, production):
    now = timezone.now()
    register_conversations(production, [Arrival("a")], now=now)
    record_outcomes(production, [Report("a", "cart")], now=now)
    html = browser_client.get(PAGE).content.decode().partition('id="funnel"')[2]
    assert "<table" not in html
    assert '<option value="cart">' in html
    assert "step=cart" not in html


def test_one_click_shows_the_funnel_between_the_two_most_frequent_keys(browser_client, production):
    now = timezone.now()
    register_conversations(production, [Arrival("a"), Arrival("b")], now=now)
    record_outcomes(production, [Report("a", "cart"), Report("b", "cart"), Report("a", "purchase & more")], now=now)
    link = re.search(r'href="(\?[^"]+)#funnel">\s*Show <code>cart', browser_client.get(PAGE).content.decode())[1]
    funnel = browser_client.get(PAGE + unescape(link)).content.decode().partition('id="funnel"')[2]
    assert re.findall(r'<th scope="row"><a [^>]*><code>(.*?)</code>', funnel) == ["cart", "purchase &amp; more"]


def test_the_funnel_reads_its_own_index_and_no_more_than_it_follows(production):
    """So the funnel stays fast. The first step reads by key and time, with a limit; later steps by primary key."""
    for hours in range(1, 21):
        names = [f"conv_{hours}_{number}" for number in range(100)]
        register(production, *names)
        reports = [Report(name, key) for name in names for key in ("cart", "purchase", "refund")]
        record_outcomes(production, reports, now=NOW - timedelta(hours=hours))
    statement = funnels._write_statement(3)
    parameters = {
        "environment": production.pk, "start": NOW - timedelta(days=9), "end": NOW, "limit": 10, "recent": NOW,
        "key_1": "cart", "key_2": "purchase", "key_3": "refund",
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE outcomes_outcome")
        cursor.execute(f"EXPLAIN {statement}", parameters)
        plan = "\n".join(row[0] for row in cursor.fetchall())
        indexes = re.findall(r"Index Scan (?:Backward )?using (\w+) on", plan)
        cursor.execute("SELECT inhrelid::regclass::text, inhparent::regclass::text FROM pg_inherits")
        parents = dict(cursor.fetchall())
    assert "Limit" in plan
    assert [parents[index] for index in indexes] == ["outcome_by_key_and_time", *["outcomes_outcome_pkey"] * 2]
    assert plan.count("Index Cond") == 3
    assert "Seq Scan" not in plan
