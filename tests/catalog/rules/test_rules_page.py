"""The page of rules lists every manual override with its time and author, and can undo it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from catalog import operation_queries
from catalog.models import HintRule, TemplateRule
from catalog.rules import views
from catalog.rules.baseline_resets import reset_baseline
from catalog.rules.hint_rules import add_hint_rule
from catalog.rules.map_rules import add_map_rule
from catalog.rules.redaction_rules import add_redaction_rule
from catalog.rules.template_rules import add_template_rule
from tests.catalog.reports import deliver, environment_of, observation
from tests.reload_workspace import reload_workspace
from workspaces.create import NewWorkspace

pytestmark = pytest.mark.django_db
RED, SHOP = "/shops/red/{itemId}", "/shops/{shop}/{item}"
KINDS = {"template-rules", "fresh-starts", "map-rules", "hint-rules", "redaction-rules"}


def address(created: Any, page: str = "rules") -> str:
    return f"/w/{created.workspace.slug}/production/{page}"


@pytest.fixture(scope="module")
def workspace_with_rules(module_workspace: NewWorkspace, connect: Callable[[NewWorkspace], Any]) -> NewWorkspace:
    """Return a workspace with one override of each kind."""
    environment = environment_of(module_workspace)
    seen = [observation(path=RED, response={"a": {"b": 1}}), observation(path="/shops/blue/{x}")]
    deliver(connect(module_workspace), module_workspace, *seen)
    by = {"actor": "ann", "now": timezone.now()}
    add_template_rule(environment, RED, SHOP, matching=True, **by)
    operation = operation_queries.find_operation(environment, "GET", SHOP)
    reset_baseline(operation, **by)
    add_map_rule(operation, "200", "/a", as_map=True, **by)
    add_hint_rule(operation, "openWorldHint", False, **by)
    add_redaction_rule(environment, "sensitive", "user*Email", **by)
    return module_workspace


@pytest.fixture
def with_rules(workspace_with_rules: NewWorkspace) -> NewWorkspace:
    return reload_workspace(workspace_with_rules)


def load_tables(client: Any, created: Any) -> Any:
    return json.loads(b"".join(client.get(address(created, "rules.json")).streaming_content))["tables"]


def test_every_kind_of_override_is_listed_with_its_time_and_author(browser_client, with_rules):
    page = browser_client.get(address(with_rules)).content.decode()
    for text in ("/shops/red/", "also matching paths", "a map", "Open world", "user*Email", "ann"):
        assert text in page
    table_rows = load_tables(browser_client, with_rules)
    assert set(table_rows) == KINDS
    assert {(len(rows), rows[0]["by"], rows[0]["undoneAt"]) for rows in table_rows.values()} == {(1, "ann", None)}
    rule = table_rows["template-rules"][0]
    assert (rule["method"], rule["source"], rule["target"], rule["matching"]) == (None, "/shops/red/{}", SHOP, True)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_kind_of_override_has_its_own_table(browser_client, with_rules, kind):
    answer = browser_client.get(address(with_rules, "rules.csv"), {"table": kind})
    assert len(b"".join(answer.streaming_content).decode().splitlines()) == 2


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_override_can_be_undone_on_the_page(browser_client, with_rules, kind):
    rule = (
        next(rule_kind for rule_kind in views.RULE_KINDS if rule_kind.name == kind)
        .list_rules(environment_of(with_rules))
        .get()
    )
    answer = browser_client.post(address(with_rules, f"rules/{kind}/{rule.pk}/undo"))
    assert (answer.status_code, answer["Location"]) == (303, f"{address(with_rules)}#{kind}")
    rule.refresh_from_db()
    assert rule.undone_at
    assert browser_client.post(address(with_rules, f"rules/{kind}/{rule.pk}/undo")).status_code == 303


def test_an_empty_page_says_where_overrides_are_made(browser_client, workspace):
    page = browser_client.get(address(workspace)).content.decode()
    assert page.count("an operation</a>") == 4
    assert page.count("<h2>") == 5
    assert page.count('class="card"') == 2  # one for all kinds without rules, and one with the form of redaction


def test_rules_that_were_undone_are_in_a_closed_section_of_their_own(browser_client, with_rules):
    rule = HintRule.objects.get()
    browser_client.post(address(with_rules, f"rules/hint-rules/{rule.pk}/undo"))
    page = browser_client.get(address(with_rules)).content.decode()
    section = page.partition('id="hint-rules"')[2].partition("</section>")[0]
    in_force, _, undone = section.partition("<summary>Undone (1)</summary>")
    assert "Open world" in undone
    assert "Open world" not in in_force
    assert "<details" in in_force
    assert " open" not in in_force.rpartition("<details")[2]


def test_the_kinds_without_rules_lead_to_where_one_is_made(api, browser_client, workspace):
    deliver(api, workspace, observation("GET", "/books", 200))
    page = browser_client.get(address(workspace)).content.decode()
    links = re.findall(r'href="([^"]*/operation\?[^"]*)"', page)
    assert [link.partition("#")[2] for link in links] == ["overrides", "overrides", "shape", "overrides"]
    assert [re.findall(r"open=([a-z-]+)", link) for link in links] == [["template"], ["baseline"], [], ["hints"]]


@pytest.mark.parametrize("address_end", ["rules/nothing/1/undo", "rules/template-rules/999/undo"])
def test_an_unknown_rule_is_404(browser_client, with_rules, address_end):
    assert browser_client.post(address(with_rules, address_end)).status_code == 404


def test_a_key_reads_but_does_not_act(client, with_rules):
    key = {"x-service-api-key": with_rules.full_key}
    assert not re.search(r"\bUndo\b", client.get(address(with_rules), headers=key).content.decode())
    rule = TemplateRule.objects.get()
    assert client.post(address(with_rules, f"rules/template-rules/{rule.pk}/undo"), headers=key).status_code == 302
    rule.refresh_from_db()
    assert rule.undone_at is None


def test_an_outsider_finds_nothing_and_changes_nothing(client, with_rules, other_workspace):
    client.force_login(get_user_model().objects.create_user("outsider"))
    rule = TemplateRule.objects.get()
    assert client.get(address(with_rules)).status_code == 404
    assert client.get(address(with_rules, "rules.json")).status_code == 404
    assert client.post(address(with_rules, f"rules/template-rules/{rule.pk}/undo")).status_code == 404
    assert client.post(address(with_rules, "operation/template"), {"method": "GET", "path": SHOP}).status_code == 404
    stranger = {"x-service-api-key": other_workspace.full_key}
    assert client.get(address(with_rules), headers=stranger).status_code == 404


def test_the_catalog_links_to_the_page_of_rules(browser_client, with_rules):
    assert f'href="{address(with_rules)}"' in browser_client.get(address(with_rules, "catalog")).content.decode()


def test_a_viewer_is_offered_no_override_and_reads_who_can_give_the_role(client, workspace):
    viewer = get_user_model().objects.create_user("vera")
    workspace.workspace.memberships.create(user=viewer, role="viewer")
    client.force_login(viewer)
    page = client.get(address(workspace)).content.decode()
    assert "Each can be undone" not in page
    assert "add your own" not in page
    assert not re.search(r"Merge or rename|reset the baseline|Override", page)
    refused = client.get(address(workspace, "audit"))
    assert refused.status_code == 403
    assert "A superuser of this hub can give it to you." in refused.content.decode()
    workspace.workspace.memberships.create(user=get_user_model().objects.create_user("ada"), role="admin")
    assert "An admin of this workspace can give it to you." in client.get(address(workspace, "audit")).content.decode()


def test_a_viewer_is_offered_no_override_on_the_page_of_an_operation(client, browser_client, with_rules):
    viewer = get_user_model().objects.create_user("vera")
    with_rules.workspace.memberships.create(user=viewer, role="viewer")
    client.force_login(viewer)
    for place in ({"part": "200", "at": "/a"}, {"part": "200", "at": ""}):
        query = {"method": "GET", "path": SHOP, **place}
        page = client.get(address(with_rules, "operation"), query).content.decode()
        assert "ann" in page.partition('id="overrides"')[2]
        assert re.findall(r'<form method="post"[^>]*/production/', page) == []
        assert "Editors of this workspace set and undo overrides." in page
        editable = browser_client.get(address(with_rules, "operation"), query).content.decode()
        assert len(re.findall(r'<form method="post"[^>]*/production/', editable)) > 6
        assert "Editors of this workspace" not in editable
