"""The list of tool calls: minted intents of a period, their counts, filters and pages."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from datetime import timedelta
from itertools import chain
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.utils import timezone

from affidavit import args_hash
from intents.gate.args_hashes import hash_args_hash
from intents.gate.confirmations import request_confirmation
from intents.gate.needs_confirmation import Call
from intents.models import MintedIntent
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from intents.tool_calls import queries, views
from intents.tool_calls.filters import CallFilters
from tests.page_text import read_unescaped_html
from wire.time.period import parse_period
from workspaces.models import Environment, Membership

pytestmark = pytest.mark.django_db
NOW = timezone.now().replace(microsecond=0)


@pytest.fixture
def address(workspace: Any) -> str:
    return f"/w/{workspace.workspace.slug}/production/toolcalls"


def store(environment: Environment, call: str, operation: str, minutes: int = 5, **columns: Any) -> MintedIntent:
    """Store an intent that was minted some minutes ago."""
    intent = build(environment, call, operation, minutes, **columns)
    intent.save()
    return intent


def build(
    environment: Environment, call: str, operation: str, minutes: int = 5, user: str = "user_17", **columns: Any
) -> MintedIntent:
    issued_at = NOW - timedelta(minutes=minutes)
    return MintedIntent(
        environment=environment, tool_call_id=call, sub=user, operation=operation,
        args_hash=hash_args_hash(environment.workspace_id, "0" * 64), issued_at=issued_at,
        expires_at=issued_at + timedelta(minutes=5), **columns,
    )  # fmt: skip


@pytest.fixture
def calls(production: Environment) -> None:
    store(production, "call_read", "GET /orders/17")
    store(production, "call_search", "GET /orders?limit=5", minutes=6, user="user_<2>")
    store(production, "call_write", "POST /refunds", minutes=7)
    store(production, "call_write", "POST /refunds", minutes=4)
    store(production, "call_sensitive", "POST /accounts/17/close", minutes=8, requires_step_up=True)
    store(production, "call_old", "POST /refunds", minutes=60 * 24 * 20)
    store(production.workspace.environments.get(name="staging"), "call_staging", "GET /orders/17")


def read_text(client: Client, address: str, **query: str) -> str:
    response = client.get(address, query)
    assert response.status_code == 200, response.content
    return read_unescaped_html(response)


def list_calls(client: Client, address: str, **query: str) -> list[str]:
    """Return the ids of the tool calls on the page, after checking that the download lists the same calls."""
    heads = read_text(client, address, **query).partition('id="calls"')[2].split('<th scope="row"')[1:]
    listed = [re.search(r'toolcall\?[^"]*id=([^"&]+)', head)[1] for head in heads]
    rows = json.loads(client.get(f"{address}.json", query).getvalue())["tables"]["toolCalls"]
    assert [row["toolCallId"] for row in rows] == listed
    return listed


@pytest.mark.parametrize(
    ("method", "calls"),
    [("m-search", ["call_odd"]), ("GET,POST", []), ("G3T", []), ("A" * 21, []), ("\0", ["call_odd"])],
)
def test_any_method_filters(browser_client, production, address, method, calls):
    store(production, "call_odd", "M-SEARCH /orders")
    assert list_calls(browser_client, address, method=method) == calls


def read_counts(client: Client, address: str, **query: str) -> list[str]:
    return re.findall(r'<div class="v">([^<]*)</div>', read_text(client, address, **query))


def test_without_an_intent_the_page_shows_the_call_that_mints_one(browser_client, address, api):
    response = browser_client.get(address)
    assert "/api/intents" in response.content.decode()
    assert api.post("/api/intents", response.context["first_intent"].encode()).status_code == 201
    assert "GET /orders/8412" in read_text(browser_client, address).replace("<wbr>", "")


def test_the_page_lists_and_counts_the_intents_of_its_period_and_environment(browser_client, address, calls):
    names = ["call_write", "call_read", "call_search", "call_write", "call_sensitive"]
    assert list_calls(browser_client, address) == names
    assert list_calls(browser_client, address, range="30d") == [*names, "call_old"]
    assert read_counts(browser_client, address) == ["4", "5", "3", "1"]
    assert read_counts(browser_client, address, range="30d") == ["5", "6", "4", "1"]


@pytest.mark.parametrize(("query", "names"), [
    ({"stepup": "asked"}, ["call_sensitive"]),
    ({"stepup": "not-asked"}, ["call_write", "call_read", "call_search", "call_write"]),
    ({"confirmation": "asked"}, ["call_write", "call_write", "call_sensitive"]),
    ({"confirmation": "not-asked"}, ["call_read", "call_search"]),
    ({"method": "post"}, ["call_write", "call_write", "call_sensitive"]),
    ({"path": "/orders/{orderId}"}, ["call_read"]),
    ({"path": "/orders"}, ["call_search"]),
    ({"path": "/accounts/{accountId}/close", "method": "POST", "stepup": "asked"}, ["call_sensitive"]),
    ({"path": "/orders/{orderId}", "method": "POST"}, []),
    ({"path": "/.*"}, []),
    ({"path": "/orders/1\\d"}, []),
    ({"path": "GET /orders/17"}, ["call_read"]),
    ({"path": "GET /orders/{orderId}"}, ["call_read"]),
    ({"path": "POST /orders/{orderId}"}, []),
    ({"path": "/orders\0"}, ["call_search"]),
    ({"intents": "several"}, ["call_write", "call_write"]),
    ({"intents": "several", "method": "GET"}, []),
    ({"user": "user_<2>"}, ["call_search"]),
    ({"user": "user_17"}, ["call_write", "call_read", "call_write", "call_sensitive"]),
    ({"user": "user_17", "stepup": "asked"}, ["call_sensitive"]),
    ({"user": "user_17", "method": "GET"}, ["call_read"]),
    ({"user": "user_1"}, []),
    ({"user": "USER_17"}, []),
])  # fmt: skip
def test_each_filter_narrows_list_and_counts(browser_client, address, calls, query, names):
    assert list_calls(browser_client, address, **query) == names
    assert read_counts(browser_client, address, **query)[:2] == [str(len(set(names))), str(len(names))]


def test_the_cards_say_of_how_many_calls_the_intents_are(browser_client, address, production, calls):
    """A call that is retried has several intents, so each figure of intents names the number of their calls."""
    page = read_text(browser_client, address)
    assert 'intents of 2 calls; <span class="nowrap">60.0 %</span> of the intents' in page
    assert 'intent of 1 call; <span class="nowrap">20.0 %</span> of the intents' in page
    store(production, "call_sensitive", "POST /accounts/17/close", minutes=3, requires_step_up=True)
    assert 'intents of 1 call; <span class="nowrap">33.3 %</span> of the intents' in read_text(browser_client, address)
    assert " of 0 calls" not in read_text(browser_client, address, method="GET")


def test_a_call_is_retried_if_it_has_several_intents_in_the_period(browser_client, address, production):
    store(production, "call_once", "GET /orders/17")
    assert "no call was retried" in read_text(browser_client, address)
    staging = production.workspace.environments.get(name="staging")
    store(staging, "call_once", "GET /orders/17")
    store(production, "call_long", "GET /orders/17", minutes=7)
    store(production, "call_long", "GET /orders/17", minutes=60 * 24 * 8)
    assert list_calls(browser_client, address, intents="several") == []
    assert list_calls(browser_client, address, intents="several", range="30d") == ["call_long", "call_long"]
    page = read_text(browser_client, address, range="30d")
    assert "1 retried call has several" in page
    assert '· <a href="?range=30d&intents=several#calls">list them</a>' in page


def test_the_intents_of_rejected_calls_are_listed_alone(browser_client, address, production):
    for name in ("call_a", "call_b", "call_c"):
        store(production, name, "GET /orders/17")
    staging = production.workspace.environments.get(name="staging")
    record_verifications(production, [Verification("expired", NOW, 2, "", "call_b")])
    record_verifications(staging, [Verification("expired", NOW, 2, "", "call_c")])
    assert list_calls(browser_client, address, intents="rejected") == ["call_b"]


def test_a_row_says_what_was_asked_for_and_how_its_call_was_rejected(browser_client, address, production, calls):
    record_verifications(production, [Verification("step-up-required", NOW, 2, "", "call_sensitive", count=2)])
    page = read_text(browser_client, address, stepup="asked")
    row = page.partition("<tbody>")[2].partition("</tr>")[0]
    assert "confirmation</span>" in row
    assert "step-up</span>" in row
    assert "<code>step-up-required</code> × 2" in row
    assert "Whether the user passed a step-up is not stored" in page
    call = read_text(browser_client, address.replace("toolcalls", "toolcall"), id="call_sensitive")
    assert "Whether the user passed a step-up is not stored" in call
    assert f'<a class="btn" href="{address}">All tool calls</a>' in call


def test_a_rejection_is_beside_the_last_intent_of_its_call_that_was_minted_before_it(
    browser_client, address, production
):
    for minutes in (30, 20, 10):
        store(production, "call_again", "POST /refunds", minutes=minutes)
    last_pair = [store(production, "call_twice", "POST /refunds", minutes=15) for _ in range(2)]
    staging = production.workspace.environments.get(name="staging")
    store(staging, "call_again", "POST /refunds", minutes=5)
    for reason, call, minutes in (
        ("expired", "call_again", 31), ("step-up-required", "call_again", 20), ("step-up-required", "call_again", 11),
        ("expired", "call_again", 11), ("audience-mismatch", "call_again", 4), ("expired", "call_twice", 15),
    ):  # fmt: skip
        moment = NOW - timedelta(minutes=minutes)
        record_verifications(production, [Verification(reason, moment, 2, "POST /refunds", call)])
    rows = json.loads(browser_client.get(f"{address}.json").getvalue())["tables"]["toolCalls"]
    assert [row["rejectedAs"] for row in rows] == [{}, {"expired": 1}, {}, {"step-up-required": 2, "expired": 1}, {}]
    assert last_pair[1].pk == queries.select_intents(production, parse_period({}, now=NOW), CallFilters())[1].pk
    table = read_text(browser_client, address).partition("<tbody>")[2].partition("</tbody>")[0]
    shown = [re.findall(r"<code>([a-z-]+)</code>(?: × (\d))?", row) for row in table.split("</tr>")[:-1]]
    assert [dict(reasons) for reasons in shown] == [
        {}, {"expired": ""}, {}, {"step-up-required": "2", "expired": ""}, {},
    ]  # fmt: skip


def test_a_rejection_before_the_intent_by_a_slow_clock_is_beside_the_next_intent(browser_client, address, production):
    store(production, "call_other_day", "POST /refunds", minutes=60 * 24 * 8)
    for minutes in (50, 30, 10):
        store(production, "call_again", "POST /refunds", minutes=minutes)
    store(production, "call_other_day", "POST /refunds", minutes=4)
    for call, minutes in (("call_again", 52), ("call_again", 12), ("call_other_day", 6), ("call_again", 2)):
        moment = NOW - timedelta(minutes=minutes)
        record_verifications(production, [Verification("not-yet-valid", moment, 2, "POST /refunds", call)])
    rows = json.loads(browser_client.get(f"{address}.json").getvalue())["tables"]["toolCalls"]
    once = {"not-yet-valid": 1}
    assert [row["rejectedAs"] for row in rows] == [once, once, {}, once]


def test_the_download_reads_rejections_in_batches(browser_client, address, production, calls, monkeypatch):
    monkeypatch.setattr(views, "BATCH", 2)
    record_verifications(production, [Verification("step-up-required", NOW, 2, "", "call_sensitive", count=2)])
    rows = json.loads(browser_client.get(f"{address}.json").getvalue())["tables"]["toolCalls"]
    assert [row["rejectedAs"] for row in rows] == [{}, {}, {}, {}, {"step-up-required": 2}]


def test_confirmations_and_rejections_lead_to_the_list(browser_client, address):
    for name in ("confirmations", "rejections"):
        assert f'href="{address}">Tool calls</a>' in read_text(browser_client, address.replace("toolcalls", name))


def test_older_pages_begin_where_the_one_before_ended(browser_client, address, production, monkeypatch):
    monkeypatch.setattr(views, "ROWS_PER_PAGE", 3)
    for number in range(8):
        store(production, f"call_{number}", "GET /orders", minutes=5 + number // 4)  # several calls in one second
    query, pages = {}, []
    for _ in range(3):
        page = read_text(browser_client, address, **query)
        pages.append(re.findall(r'toolcall\?[^"]*id=([^"&]+)', page.partition('id="calls"')[2]))
        cursor = re.search(r'cursor=([0-9-]+)#calls" rel="next"', page)
        query = {"cursor": cursor[1]} if cursor else {}
    assert [len(page) for page in pages] == [3, 3, 2]
    assert not query
    assert list(chain.from_iterable(pages)) == [f"call_{number}" for number in (3, 2, 1, 0, 7, 6, 5, 4)]


def test_a_search_stops_after_its_limit_and_goes_on_from_there(browser_client, address, production, monkeypatch):
    monkeypatch.setattr(queries, "MAX_SCANNED", 4)
    for number in range(10):
        store(production, f"call_{number}", "GET /orders", minutes=5 + number)
    store(production, "call_rare", "DELETE /orders/1", minutes=60)
    query: dict[str, str] = {"method": "DELETE"}
    for _ in range(2):
        page = read_text(browser_client, address, **query)
        assert "Nothing matches since" in page
        query["cursor"] = re.findall(r'cursor=([0-9-]+)#calls" rel="next"> ?Search further back', page)[0]
    assert "id=call_rare" in read_text(browser_client, address, **query)
    unfiltered = read_text(browser_client, address)
    assert "among the newest 4 intents; older ones are not counted" in unfiltered
    assert read_counts(browser_client, address)[1] == "4"


def test_intents_without_step_up_do_not_count_towards_the_limit_of_its_search(
    browser_client, address, production, monkeypatch
):
    monkeypatch.setattr(queries, "MAX_SCANNED", 4)
    for number in range(10):
        store(production, f"call_{number}", "GET /orders", minutes=5 + number)
    store(production, "call_rare", "DELETE /orders/1", minutes=60, requires_step_up=True)
    assert list_calls(browser_client, address, stepup="asked") == ["call_rare"]
    assert read_counts(browser_client, address, stepup="asked") == ["1", "1", "1", "1"]


@pytest.mark.parametrize("query", [{"user": "rare"}, {"user": "rare", "stepup": "asked"}])
def test_intents_of_others_do_not_count_towards_the_limit_of_a_search_for_a_user(
    browser_client, address, production, monkeypatch, query
):
    monkeypatch.setattr(queries, "MAX_SCANNED", 4)
    for number in range(10):
        store(production, f"call_{number}", "GET /orders", minutes=5 + number, requires_step_up=True)
    store(production, "call_rare", "DELETE /orders/1", minutes=60, user="rare", requires_step_up=True)
    assert list_calls(browser_client, address, **query) == ["call_rare"]
    assert read_counts(browser_client, address, **query)[:2] == ["1", "1"]


def test_the_plan_of_one_user_has_the_index_of_users(production):
    store(production, "call_rare", "GET /orders", user="rare")
    others = [build(production, f"call_{number}", "GET /orders", user="frequent") for number in range(3_000)]
    MintedIntent.objects.bulk_create(others)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE intents_mintedintent")
    period = parse_period({"range": "all"}, now=NOW)
    plan = queries.select_intents(production, period, CallFilters(user="rare")).explain()
    assert re.search(r"Index Cond: .*sub\)::text = 'rare'", plan)


def test_every_partition_has_the_index_of_users():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), bool_and(indisvalid) FROM pg_partition_tree('intents_of_a_user')"
            " JOIN pg_index ON indexrelid = relid"
        )
        count, are_valid = cursor.fetchone()
        cursor.execute("SELECT count(*) FROM pg_partition_tree('intents_mintedintent')")
        assert (count, are_valid) == (cursor.fetchone()[0], True)


def test_pages_of_a_users_calls_lead_to_each_other(browser_client, address, production, calls):
    rows = read_text(browser_client, address, range="30d").partition('id="calls"')[2]
    link = "?range=30d&user=user_%3C2%3E"
    assert f'<a href="{link}#calls"><code class="cut">user_<2></code></a>' in rows
    page = read_text(browser_client, f"{address}{link}")
    confirmations = f"{address.replace('toolcalls', 'confirmations')}{link}"
    assert f'Only calls for <code>user_<2></code>. <a href="{confirmations}">All confirmations of this user</a>' in page
    request_confirmation(production, Call("user_<2>", "POST /refunds", args_hash({})), "Refund", now=NOW)
    back = f'<a href="{address}{link}">All tool calls of this user</a>'
    assert back in read_text(browser_client, confirmations)
    assert "of this user" not in read_text(browser_client, confirmations.partition("?")[0])
    call = read_text(browser_client, address.replace("toolcalls", "toolcall"), id="call_search")
    assert f'user <a href="{address}?user=user_%3C2%3E&range=all"><code>user_<2></code></a>' in call


@pytest.mark.parametrize("cursor", ["", "x", "1", "1-", "-1", "9" * 18 + "-1", "1-" + "9" * 19])
def test_an_unreadable_cursor_is_the_beginning(browser_client, address, calls, cursor):
    assert "call_write" in read_text(browser_client, address, cursor=cursor)


def test_filters_are_true_as_soon_as_one_of_them_filters():
    assert not CallFilters()
    assert all(CallFilters(**{field.name: "x"}) for field in fields(CallFilters))


def test_a_member_of_another_workspace_sees_nothing(client, other_workspace, address, calls):
    stranger = get_user_model().objects.create_user("stranger")
    Membership.objects.create(workspace=other_workspace.workspace, user=stranger, role="viewer")
    client.force_login(stranger)
    assert client.get(address).status_code == 404
    headers = {"x-service-api-key": other_workspace.full_key}
    assert client.get(f"{address}.json", headers=headers).status_code == 404
