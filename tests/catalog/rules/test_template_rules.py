"""Merging and renaming by template rules applies to future traffic too; an undo restores everything (contract §4)."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.utils import timezone

from catalog.downloads import documents
from catalog.drift.environment_comparison.differences import compare_catalogs
from catalog.models import Drift, OperationVersion, TemplateRule
from catalog.operation_queries import find_operation, visible_operations
from catalog.rules import baseline_resets
from catalog.rules.errors import RuleError
from tests.catalog.reports import deliver, environment_of, observation
from tests.catalog.rules.merges import AT, BLUE, RED, SHOP, list_everything, merge, read_catalog, undo
from tests.reload_workspace import reload_workspace
from workspaces.create import NewWorkspace
from workspaces.models import AuditEntry, Environment

pytestmark = pytest.mark.django_db


def list_paths(environment: Environment) -> list[tuple[str, str]]:
    return [(operation["method"], operation["path"]) for operation in read_catalog(environment)]


@pytest.fixture(scope="module")
def workspace_of_shops(module_workspace: NewWorkspace, connect: Callable[[NewWorkspace], Any]) -> NewWorkspace:
    """Return a workspace to which two templates were reported that are really one operation."""
    deliver(
        connect(module_workspace),
        module_workspace,
        *[observation(path=RED, response={"id": 1, "red": True}, lastSeenAt=AT, undecided=[1],
                      responseMediaType="application/json",
                      parameters={"itemId": {"type": "integer"}})] * 3,
        observation(path=RED, status=404, count=2, response={"detail": "x"}, lastSeenAt=AT + 60),
        *[observation(path=BLUE, response={"id": "x", "blue": None}, request={"a": 1}, lastSeenAt=AT - 90_000,
                      responseMediaType="text/csv")] * 4,
    )  # fmt: skip
    return module_workspace


@pytest.fixture
def workspace(workspace_of_shops: NewWorkspace) -> NewWorkspace:
    return reload_workspace(workspace_of_shops)


@pytest.fixture
def shops(workspace: NewWorkspace) -> Environment:
    return environment_of(workspace)


def test_merged_operations_are_shown_as_their_sum(shops):
    merge(shops, RED, SHOP)
    merge(shops, BLUE, SHOP)
    (shown,) = read_catalog(shops)
    assert (shown["path"], shown["observations"]) == (SHOP, 9)
    assert (shown["firstSeenAt"], shown["lastSeenAt"]) == (AT - 90_000, AT + 60)
    assert shown["parameters"] == {
        "shop": {"type": "string", "seen": 9},
        "item": {"type": "integer", "seen": 9, "types": {"integer": 3, "unknown": 6}},
    }
    body = shown["responses"]["200"]
    assert (body["seen"], body["properties"]["red"]["seen"], body["properties"]["id"]["type"]) == (7, 3, "unknown")
    assert shown["request"]["seen"] == 4
    assert shown["responseMediaTypes"] == {"200": ["application/json", "text/csv"]}
    assert list(shown["responses"]) == ["200", "404"]


def test_a_merge_into_an_observed_operation_takes_its_names(api, workspace, shops):
    deliver(api, workspace, observation(path="/shops/{which}/{id}", response={"id": 2}, lastSeenAt=AT))
    merge(shops, RED, "/shops/{which}/{id}")
    merge(shops, BLUE, "/shops/{which}/{id}")
    assert [(operation["path"], operation["observations"]) for operation in read_catalog(shops)] == [
        ("/shops/{which}/{id}", 10)
    ]


def test_a_merge_applies_to_future_traffic_of_new_methods_and_templates(api, workspace, shops):
    merge(shops, RED, SHOP)
    merge(shops, "/shops/green/{}", SHOP, method="GET")
    green = "/shops/green/{x}"
    deliver(api, workspace, observation(path=green, count=5), observation("PUT", RED), observation("PUT", green))
    assert list_paths(shops) == [("GET", BLUE), ("PUT", "/shops/green/{x}"), ("GET", SHOP), ("PUT", SHOP)]
    assert find_operation(shops, "GET", SHOP).observations == 10


def test_other_matching_paths_follow_only_if_the_rule_says_so(api, workspace, shops):
    rule = merge(shops, RED, SHOP)
    assert ("GET", BLUE) in list_paths(shops)
    undo(rule)
    merge(shops, RED, SHOP, matching=True)
    deliver(api, workspace, observation(path="/shops/green/{x}"), observation(path="/shops/green/{x}/more"))
    assert list_paths(shops) == [("GET", "/shops/green/{x}/more"), ("GET", SHOP)]
    pinned = merge(shops, BLUE, BLUE)
    assert ("GET", BLUE) in list_paths(shops)
    undo(pinned)
    assert ("GET", BLUE) not in list_paths(shops)


def test_renaming_the_parameters_alone_keeps_the_operation(shops):
    merge(shops, RED, "/shops/red/{sku}")
    assert ("GET", "/shops/red/{sku}") in list_paths(shops)
    assert find_operation(shops, "GET", RED).undecided == {}
    undo(TemplateRule.objects.get())
    assert ("GET", RED) in list_paths(shops)
    assert find_operation(shops, "GET", RED).undecided == {"1": 3}


def test_an_operation_merged_into_a_renamed_one_is_shown_under_the_new_name(shops):
    first, second = merge(shops, RED, BLUE), merge(shops, BLUE, SHOP)
    assert list_paths(shops) == [("GET", SHOP)]
    for address in (RED, BLUE, SHOP):
        assert find_operation(shops, "GET", address).path == SHOP
    undo(first)
    assert [(operation["path"], operation["observations"]) for operation in read_catalog(shops)] == [
        (RED, 5),
        (SHOP, 4),
    ]
    undo(second)
    assert list_paths(shops) == [("GET", BLUE), ("GET", RED)]


def test_a_circle_of_rules_is_refused_and_changes_nothing(shops):
    before = list_everything(shops)
    rule = merge(shops, RED, BLUE)
    with pytest.raises(RuleError, match="leads from there back"):
        merge(shops, BLUE, RED)
    assert TemplateRule.objects.count() == 1
    undo(rule)
    assert list_everything(shops) == before


def test_undoing_a_rule_that_prevents_a_circle_is_refused(shops):
    pinned = merge(shops, RED, RED)
    merge(shops, BLUE, SHOP, matching=True)
    merge(shops, SHOP, RED)
    with pytest.raises(RuleError):
        undo(pinned)
    assert TemplateRule.objects.get(pk=pinned.pk).undone_at is None


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("shops/{a}/{b}", "start"), ("/shops/{a}", "segments"), ("/shops/{a}/{b}/c", "segments"),
        ("/shops/{a}/{a}", "clash"), ("/shops/{}/{b}", "name"), ("/shops/{a/{b}", "braces"), ("/shops/17/{b}", "raw"),
        ("/shops/{a}?/{b}", "query"), ("/sh ops/{a}/{b}", "control"), ("/shops/anna@example.org/{b}", "raw"),
        ("/shops/{a}/" + "x" * 2000, "bytes"), ("/shops/{a}/" + "é" * 1500, "bytes"), ("/shops/{a}/\0", "control"),
    ],
)  # fmt: skip
def test_a_target_that_is_no_template_of_as_many_segments_is_refused(shops, target, code):
    with pytest.raises(RuleError) as caught:
        merge(shops, RED, target)
    assert caught.value.reason == code
    assert not TemplateRule.objects.exists()


def test_a_merge_makes_at_most_one_version_marked_as_manual_and_no_drift(api, workspace, shops):
    rule = merge(shops, RED, BLUE)
    versions = OperationVersion.objects.filter(by_hand=True)
    assert [(version.operation.key, version.number) for version in versions] == [("/shops/blue/{}", 2)]
    deliver(api, workspace, observation(path=RED, response={"id": 1, "red": True}, lastSeenAt=AT))
    undo(rule)
    deliver(api, workspace, observation(path=RED, response={"id": 1, "red": True}, lastSeenAt=AT))
    deliver(api, workspace, observation(path=BLUE, response={"id": "x", "blue": None}, lastSeenAt=AT))
    assert not Drift.objects.exists()
    assert not versions.all().exists()
    assert set(OperationVersion.objects.filter(operation__key="/shops/red/{}").values_list("number", flat=True)) == {1}


def test_a_change_in_merged_operations_is_one_drift_of_the_merged_operation(api, workspace, shops):
    merge(shops, RED, SHOP)
    merge(shops, BLUE, SHOP)
    deliver(api, workspace, observation(path=RED, response={"id": 1, "red": True, "new": 1}, lastSeenAt=AT))
    assert [(drift.operation.path, drift.pointer, drift.kind) for drift in Drift.objects.all()] == [
        (SHOP, "/new", "new")
    ]


def test_a_property_of_merged_operations_is_absent_only_if_all_of_them_lack_it(api, workspace, shops):
    merge(shops, BLUE, RED)
    seen = [observation(path=path, response=body) for path, body in ((RED, {"red": True}), (BLUE, {"id": 1}))]
    deliver(api, workspace, *seen * 100)
    quiet = set(Drift.objects.filter(kind="quiet").values_list("operation__key", "pointer"))
    assert quiet == {("/shops/red/{}", "/blue")}


def test_a_reset_of_a_merged_operation_applies_to_all_its_parts(api, workspace, shops):
    """The parts are the operations that a rule shows as one. Their reset ends when that rule is undone."""
    rule = merge(shops, RED, BLUE)
    now = datetime.fromtimestamp(AT, UTC)
    start = baseline_resets.reset_baseline(find_operation(shops, "GET", RED), actor="ann", now=now)
    (shown,) = read_catalog(shops)
    assert (shown["observations"], shown["responses"]["200"]["seen"]) == (9, 0)
    deliver(api, workspace, observation(path=RED, response={"id": 1}, lastSeenAt=AT))
    assert read_catalog(shops)[0]["responses"]["200"]["seen"] == 1
    undo(rule)
    assert [operation["responses"]["200"]["seen"] for operation in read_catalog(shops)] == [0, 4]
    again = merge(shops, RED, BLUE)
    assert read_catalog(shops)[0]["responses"]["200"]["seen"] == 4
    baseline_resets.undo_baseline_reset(start, actor="ann", now=timezone.now())
    assert read_catalog(shops)[0]["responses"]["200"]["seen"] == 8
    undo(again)
    assert [operation["responses"]["200"]["seen"] for operation in read_catalog(shops)] == [4, 4]


def test_a_source_with_a_reset_baseline_keeps_it_when_merged(shops):
    start = baseline_resets.reset_baseline(find_operation(shops, "GET", RED), actor="ann", now=timezone.now())
    merge(shops, RED, BLUE)
    assert read_catalog(shops)[0]["responses"]["200"]["seen"] == 4
    baseline_resets.undo_baseline_reset(start, actor="ann", now=timezone.now())
    assert read_catalog(shops)[0]["responses"]["200"]["seen"] == 7


def test_searches_lists_and_every_download_show_a_merged_operation_in_one_place(shops):
    merge(shops, RED, SHOP)
    merge(shops, BLUE, SHOP)
    for form in documents.FORMATS:
        body = documents.render_format(shops, form).body.decode()
        assert "red/" not in body
        assert "blue/" not in body
    openapi = json.loads(documents.render_format(shops, "openapi").body)
    assert list(openapi["paths"]) == [SHOP]
    operations = visible_operations(shops).filter(search__icontains="blue:")
    assert [operation.path for operation in operations] == [SHOP]


def test_a_merge_does_not_affect_other_environments(api, workspace, shops):
    deliver(api, workspace, observation(path=RED), environment="staging")
    merge(shops, RED, SHOP)
    assert list_paths(environment_of(workspace, "staging")) == [("GET", RED)]


def test_the_difference_of_environments_compares_merged_operations(api, workspace, shops):
    deliver(api, workspace, observation(path=RED, response={"id": 1, "red": True}), environment="staging")
    staging = environment_of(workspace, "staging")
    merge(shops, RED, SHOP)
    operations = {(difference.path, difference.change.kind) for difference in compare_catalogs(shops, staging)}
    assert operations == {(SHOP, "gone"), (RED, "new"), (BLUE, "gone")}
    merge(staging, RED, SHOP)
    assert SHOP not in {
        difference.path for difference in compare_catalogs(shops, staging) if difference.change.part == "operation"
    }


@pytest.mark.parametrize("matching", [False, True])
def test_a_rule_added_twice_is_one_rule_whose_undo_restores_everything(shops, matching):
    before = list_everything(shops)
    merge(shops, BLUE, SHOP)
    rule = merge(shops, RED, SHOP, matching=matching)
    assert merge(shops, RED, SHOP, matching=matching) == rule
    merge(shops, BLUE, SHOP)
    assert TemplateRule.objects.count() == 2
    assert AuditEntry.objects.filter(action="operations shown under another template").count() == 2
    for rule in TemplateRule.objects.all():
        undo(rule)
    assert list_everything(shops) == before


def test_a_rule_that_differs_from_the_latest_of_its_template_is_a_new_rule(shops):
    merge(shops, RED, SHOP)
    merge(shops, RED, SHOP, matching=True)
    merge(shops, RED, SHOP, method="GET")
    merge(shops, RED, "/shops/{which}/{id}")
    merge(shops, RED, SHOP)
    assert TemplateRule.objects.count() == 5
    assert list_paths(shops)[0] == ("GET", SHOP)


def test_a_form_sent_twice_makes_one_rule_and_leads_to_the_new_template(browser_client, workspace, shops):
    address = f"/w/{workspace.workspace.slug}/production/operation/template"
    answers = [browser_client.post(address, {"method": "GET", "path": RED, "target": SHOP}) for _ in range(2)]
    assert answers[0]["Location"] == answers[1]["Location"]
    assert TemplateRule.objects.count() == 1


def test_a_rule_and_its_undo_are_in_the_audit_log(shops):
    undo(merge(shops, RED, SHOP, method="GET"))
    entries = AuditEntry.objects.filter(workspace_id=shops.workspace.pk).exclude(action="workspace created")
    assert {(entry.actor, entry.action, entry.facts["source"], entry.facts["target"]) for entry in entries} == {
        ("ann", "operations shown under another template", RED, SHOP),
        ("ann", "template rule undone", RED, SHOP),
    }
