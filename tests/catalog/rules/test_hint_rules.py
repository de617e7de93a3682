"""Manual hints of tools: they appear in the MCP tools at once, change no shape, and an undo restores the same bytes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.utils import timezone

from catalog.models import Drift, HintRule, Operation, OperationVersion
from catalog.rules.hint_rules import add_hint_rule
from catalog.rules.template_rules import add_template_rule
from tests.at_once import run_twice_at_once
from tests.catalog.reports import deliver, environment_of, observation, undo_override
from workspaces.models import AuditEntry

pytestmark = pytest.mark.django_db
BY_METHOD = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
ORDERS = {"method": "POST", "path": "/orders"}


@pytest.fixture
def with_orders(api: Any, workspace: Any) -> Any:
    deliver(api, workspace, observation("POST", "/orders", 201), observation("POST", "/carts/{cartId}"))
    return workspace


def set_hint(client: Any, created: Any, hint: str = "destructiveHint", value: str = "false", **operation: str) -> Any:
    form = {**ORDERS, **operation, "hint": hint, "value": value}
    return client.post(f"/w/{created.workspace.slug}/production/operation/hints", form)


def read_hints(api: Any) -> dict[str, dict[str, bool]]:
    return {tool["title"]: tool["annotations"] for tool in api.get("/api/catalog/mcp.json").json()["tools"]}


def open_page(client: Any, created: Any) -> str:
    return client.get(f"/w/{created.workspace.slug}/production/operation", ORDERS).content.decode()


def test_a_hint_set_on_the_page_is_in_the_tools_at_once(api, browser_client, with_orders):
    answer = set_hint(browser_client, with_orders)
    assert (answer.status_code, answer["Location"].split("#")[1]) == (303, "hints")
    assert read_hints(api) == {
        "POST /orders": {**BY_METHOD, "destructiveHint": False},
        "POST /carts/{cartId}": BY_METHOD,
    }


@pytest.mark.django_db(transaction=True)
def test_a_hint_set_twice_at_once_is_one_rule(with_orders):
    operation = Operation.objects.select_related("environment").get(path="/orders")
    run_twice_at_once(lambda: add_hint_rule(operation, "destructiveHint", False, actor="ann", now=timezone.now()))
    assert HintRule.objects.count() == 1
    assert AuditEntry.objects.filter(action="tool hint set").count() == 1


def test_an_undone_hint_leaves_the_same_bytes_and_etag_as_before(api, browser_client, with_orders):
    before = api.get("/api/catalog/mcp.json")
    set_hint(browser_client, with_orders)
    between = api.get("/api/catalog/mcp.json")
    assert between["ETag"] != before["ETag"]
    answer = undo_override(browser_client, with_orders, "hint-rules", HintRule.objects.get().pk, **ORDERS)
    assert (answer.status_code, answer["Location"].split("#")[1]) == (303, "hints")
    after = api.get("/api/catalog/mcp.json")
    assert (after.content, after["ETag"]) == (before.content, before["ETag"])


@pytest.mark.parametrize("address", ["/api/catalog", "/api/catalog/tools.json", "/api/catalog/openapi.json"])
def test_a_hint_changes_no_other_download(api, browser_client, with_orders, address):
    etag = api.get(address)["ETag"]
    set_hint(browser_client, with_orders)
    assert api.get(address)["ETag"] == etag


def test_a_hint_is_no_drift_and_no_version(browser_client, with_orders):
    versions = OperationVersion.objects.count()
    set_hint(browser_client, with_orders)
    assert (Drift.objects.count(), OperationVersion.objects.count()) == (0, versions)


def test_the_latest_hint_applies_and_undoing_it_restores_the_earlier_one(api, browser_client, with_orders):
    for value in ("false", "true", "true"):
        set_hint(browser_client, with_orders, "readOnlyHint", value)
    assert HintRule.objects.count() == 2
    assert read_hints(api)["POST /orders"]["readOnlyHint"] is True
    undo_override(browser_client, with_orders, "hint-rules", HintRule.objects.order_by("pk").last().pk)
    assert read_hints(api)["POST /orders"]["readOnlyHint"] is False


def test_a_hint_is_on_the_page_with_who_set_it_and_in_the_audit_log(browser_client, with_orders):
    assert "Set destructiveHint to false" in open_page(browser_client, with_orders)
    set_hint(browser_client, with_orders)
    page = open_page(browser_client, with_orders)
    row = re.search(r">Destructive</th>.*?</tr>", page, re.DOTALL)[0]
    assert "test-operator" in row
    assert "Undo destructiveHint false" in row
    undo_override(browser_client, with_orders, "hint-rules", HintRule.objects.get().pk)
    facts = {"environment": "production", "operation": "POST /orders", "place": "destructiveHint false"}
    entries = AuditEntry.objects.filter(action__startswith="tool hint").order_by("pk")
    assert [(entry.action, entry.facts) for entry in entries] == [
        ("tool hint set", facts),
        ("tool hint undone", facts),
    ]


def test_a_hint_names_its_operation_by_its_path_everywhere(browser_client, with_orders):
    set_hint(browser_client, with_orders, path="/carts/{cartId}")
    start = f"/w/{with_orders.workspace.slug}/production/rules"
    page = browser_client.get(start).content.decode()
    assert "/carts/{}" not in page
    assert "Undo: POST /carts/{cartId} destructiveHint false" in page
    assert "path=/carts/%7BcartId%7D" in page or "path=%2Fcarts%2F%7BcartId%7D" in page
    rows = json.loads(browser_client.get(f"{start}.json").getvalue())["tables"]["hint-rules"]
    assert [row["path"] for row in rows] == ["/carts/{cartId}"]
    undo_override(browser_client, with_orders, "hint-rules", HintRule.objects.get().pk)
    entries = AuditEntry.objects.filter(action__startswith="tool hint")
    assert {entry.facts["operation"] for entry in entries} == {"POST /carts/{cartId}"}


def test_a_hint_stays_when_the_parameter_is_renamed(api, browser_client, with_orders):
    set_hint(browser_client, with_orders, path="/carts/{cartId}")
    environment = environment_of(with_orders)
    add_template_rule(environment, "/carts/{}", "/carts/{number}", actor="test", now=timezone.now())
    assert read_hints(api)["POST /carts/{number}"]["destructiveHint"] is False


@pytest.mark.parametrize(("hint", "value"), [("title", "true"), ("", "true"), ("openWorldHint", "no")])
def test_an_unknown_hint_or_value_is_refused(browser_client, with_orders, hint, value):
    answer = set_hint(browser_client, with_orders, hint, value)
    assert answer.status_code == 400
    assert "openWorldHint" in answer.content.decode()
    assert not HintRule.objects.exists()


def test_an_operation_that_does_not_exist_is_404(browser_client, with_orders):
    assert set_hint(browser_client, with_orders, path="/nowhere").status_code == 404
