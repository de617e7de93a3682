"""After a reset of one node only its later observations are shown; an undo restores everything exactly."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from affidavit import Evidence, describe, infer
from catalog import operation_queries
from catalog.evidence.parts import build_part_shapes, list_part_nodes
from catalog.models import BaselineReset, Drift, Operation, OperationPart
from catalog.rules import template_rules
from catalog.rules.baseline_resets import reset_baseline, undo_baseline_reset
from catalog.rules.template_rules import add_template_rule
from tests.catalog.reports import deliver, environment_of, observation, undo_override
from tests.page_text import read_html
from workspaces.models import AuditEntry

pytestmark = pytest.mark.django_db
PATH = "/orders/{orderId}"
AT = 1_790_000_000
ON_THAT_DAY = datetime.fromtimestamp(AT, UTC)
OLD, NEW = {"id": 1, "total": 2, "lines": [{"sku": 1}]}, {"id": "1", "total": 2, "lines": [{"sku": "x"}]}


def find_operation() -> Operation:
    return Operation.objects.filter(environment__name="production", shown_under=None).earliest("pk")


def read_response(status: str = "200") -> Any:
    """Return the catalog's descriptor of the responses with one status."""
    return json.loads(find_operation().document)["responses"][status]


def reset_node(pointer: str, part: str = "200") -> BaselineReset:
    return reset_baseline(find_operation(), part=part, pointer=pointer, actor="ann", now=ON_THAT_DAY)


def list_types(pointer_names: dict[str, Any]) -> dict[str, tuple[str, int]]:
    return {name: (shape["type"], shape["seen"]) for name, shape in pointer_names["properties"].items()}


@pytest.fixture
def changed_workspace(api: Any, workspace: Any) -> Any:
    """Return a workspace with an intended type change, which leaves the type unknown."""
    deliver(api, workspace, *[observation(response=OLD, lastSeenAt=AT)] * 5)
    deliver(api, workspace, observation(response=NEW, lastSeenAt=AT))
    assert read_response()["properties"]["id"]["type"] == "unknown"
    return workspace


def test_a_reset_node_shows_only_later_observations(api, changed_workspace):
    reset_node("/id")
    assert list_types(read_response()) == {"id": ("unknown", 0), "total": ("integer", 6), "lines": ("array", 6)}
    deliver(api, changed_workspace, *[observation(response=NEW, lastSeenAt=AT)] * 3)
    assert list_types(read_response()) == {"id": ("string", 3), "total": ("integer", 9), "lines": ("array", 9)}


def test_the_presence_of_a_reset_node_is_counted_since_the_reset(api, changed_workspace):
    reset_node("/id")
    deliver(
        api, changed_workspace, *[observation(response=NEW, lastSeenAt=AT)] * 3, observation(response={}, lastSeenAt=AT)
    )
    (shape,) = build_part_shapes(Operation.objects.get())
    nodes = {node.pointer: node for node in list_part_nodes(shape)}
    assert (nodes["/id"].seen, nodes["/id"].parents, nodes["/id"].is_reset) == (3, 4, True)
    assert (nodes["/total"].seen, nodes["/total"].parents, nodes["/total"].is_reset) == (9, 10, False)


def test_the_first_type_after_a_reset_makes_a_new_version_and_later_types_are_drift(api, changed_workspace):
    before = Drift.objects.count()
    reset_node("/id")
    deliver(api, changed_workspace, observation(response=NEW))
    assert (Operation.objects.get().version, Drift.objects.count()) == (4, before)
    deliver(api, changed_workspace, observation(response={**NEW, "id": True}))
    change = Drift.objects.latest("id")
    assert (change.pointer, change.kind, change.before, change.breaks) == ("/id", "type", "string", "consumer")


def test_the_items_of_an_array_and_a_whole_part_can_be_reset(api, changed_workspace):
    reset_node("/lines/[]")
    assert read_response()["properties"]["lines"]["items"] == {"type": "unknown", "reason": "empty", "seen": 0}
    deliver(api, changed_workspace, observation(response=NEW))
    assert list_types(read_response()["properties"]["lines"]["items"]) == {"sku": ("string", 1)}
    reset_node("")
    assert read_response() == {"type": "unknown", "reason": "empty", "seen": 0}
    deliver(api, changed_workspace, *[observation(response={"id": "x"})] * 2)
    assert list_types(read_response()) == {"id": ("string", 2)}
    (shape,) = build_part_shapes(Operation.objects.get())
    assert shape.observations == 2


def test_a_request_after_a_reset_is_no_drift(api, workspace):
    sent = [observation("POST", "/orders", 201, request={"sku": 1})] * 3
    deliver(api, workspace, *sent)
    reset_node("", "request")
    assert json.loads(Operation.objects.get().document)["request"] is None
    deliver(api, workspace, *sent)
    assert json.loads(Operation.objects.get().document)["request"]["seen"] == 3
    assert not Drift.objects.exists()


def test_a_reset_of_one_part_does_not_affect_another(api, changed_workspace):
    reset_node("/id", "404")
    assert read_response()["properties"]["id"]["seen"] == 6


def test_absences_survive_a_reset_of_another_node_and_are_reported_once(api, workspace):
    deliver(api, workspace, *[observation(response=OLD, lastSeenAt=AT)] * 100)
    deliver(api, workspace, *[observation(response={"id": 1, "lines": []})] * 30)
    assert [drift.pointer for drift in Drift.objects.filter(kind="quiet")] == ["/total"]
    reset_node("/id")
    for _ in range(3):
        deliver(api, workspace, *[observation(response={"id": 1, "lines": []})] * 30)
    assert [drift.pointer for drift in Drift.objects.filter(kind="quiet")] == ["/total"]


BODIES = [OLD, NEW, {"id": None}, [1], {"lines": []}, {"lines": [{"sku": 1}, "x"]}, {"a": {"b": {"c": 1}}}]
POINTERS = ["", "/id", "/lines", "/lines/[]", "/lines/[]/sku", "/a", "/a/b", "/a/b/c", "/a/{}", "/nowhere"]


class Actions(NamedTuple):
    """What was done by chance."""

    observations: list[dict[str, Any]]
    resets: list[BaselineReset]


def act_by_chance(api: Any, created: Any, chance: random.Random) -> Actions:
    """Report to production, reset baselines and undo resets."""
    observations: list[dict[str, Any]] = []
    starts: list[BaselineReset] = []
    for _ in range(14):
        seen = observation(response=chance.choice(BODIES), status=chance.choice([200, 200, 409]), lastSeenAt=AT)
        observations.append(seen)
        deliver(api, created, seen)
        if chance.random() < 0.5:
            is_whole_operation = chance.random() < 0.2
            starts.append(
                reset_node("", "")
                if is_whole_operation
                else reset_node(chance.choice(POINTERS), chance.choice(["200", "409"]))
            )
        if starts and chance.random() < 0.3:
            undo_baseline_reset(chance.choice(starts), actor="ann", now=timezone.now())
    return Actions(observations, starts)


@pytest.mark.parametrize("seed", range(6))
def test_after_an_undo_all_bytes_are_as_without_the_reset(api, workspace, seed):
    chance = random.Random(seed)
    actions = act_by_chance(api, workspace, chance)
    deliver(api, workspace, *actions.observations, environment="staging")
    for start in chance.sample(actions.resets, len(actions.resets)):
        undo_baseline_reset(start, actor="ann", now=timezone.now())
    reset_operation, unchanged_operation = Operation.objects.order_by("environment_id")
    assert reset_operation.epoch > 0
    assert (reset_operation.document, reset_operation.outline) == (
        unchanged_operation.document,
        unchanged_operation.outline,
    )


@pytest.mark.parametrize("seed", range(6, 10))
def test_a_fold_shows_the_same_as_a_complete_projection(api, workspace, seed):
    act_by_chance(api, workspace, random.Random(seed))
    deliver(api, workspace, observation(response=OLD, lastSeenAt=AT))
    folded = find_operation()
    undo_baseline_reset(reset_node("/nowhere"), actor="ann", now=timezone.now())
    assert find_operation().document == folded.document


def test_merged_operations_are_reset_together(api, changed_workspace):
    environment = environment_of(changed_workspace)
    other = observation(path="/orders/latest", response=OLD, lastSeenAt=AT)
    deliver(api, changed_workspace, *[other] * 4)
    rule = add_template_rule(environment, "/orders/latest", PATH, actor="ann", now=timezone.now())
    assert read_response()["properties"]["id"]["seen"] == 10
    start = reset_node("/id")
    deliver(
        api, changed_workspace, observation(response=NEW, lastSeenAt=AT), {**other, "response": describe(infer(NEW))}
    )
    assert list_types(read_response()) == {"id": ("string", 2), "total": ("integer", 12), "lines": ("array", 12)}
    (shape,) = build_part_shapes(operation_queries.find_operation(environment, "GET", PATH))
    assert [(node.seen, node.parents) for node in list_part_nodes(shape) if node.pointer == "/id"] == [(2, 2)]
    template_rules.undo_template_rule(rule, actor="ann", now=timezone.now())
    assert list_types(read_response()) == {"id": ("string", 1), "total": ("integer", 7), "lines": ("array", 7)}
    undo_baseline_reset(start, actor="ann", now=timezone.now())
    assert read_response()["properties"]["id"]["type"] == "unknown"


def test_a_reset_keeps_all_evidence(api, changed_workspace):
    reset_node("/id")
    deliver(api, changed_workspace, observation(response=NEW))
    total = Evidence()
    for row in OperationPart.objects.filter(part="response"):
        total.add(Evidence.from_state(row.evidence))
    assert total.properties["id"].counts == {"integer": 5, "string": 2}


def test_a_reset_and_its_undo_are_in_the_audit_log_with_their_node(changed_workspace):
    undo_baseline_reset(reset_node("/id"), actor="bob", now=timezone.now())
    entries = AuditEntry.objects.filter(workspace_id=changed_workspace.workspace.pk).exclude(action="workspace created")
    assert {(entry.actor, entry.action, entry.facts["place"]) for entry in entries} == {
        ("ann", "baseline reset", "200 /id"),
        ("bob", "baseline reset undone", "200 /id"),
    }


def post_reset(client: Client, created: Any, **members: str) -> Any:
    address = f"/w/{created.workspace.slug}/production/operation/baseline"
    return client.post(address, {"method": "GET", "path": PATH, "part": "200", "pointer": "/id", **members})


def test_a_member_resets_a_node_and_undoes_it_on_the_page(browser_client, changed_workspace):
    answer = post_reset(browser_client, changed_workspace)
    start = BaselineReset.objects.get()
    assert (answer.status_code, start.part, start.pointer, start.actor) == (303, "200", "/id", "test-operator")
    page = browser_client.get(answer["Location"]).content.decode()
    assert '<span class="tag">baseline reset</span>' in page
    assert "baseline begins here" not in page
    assert (
        undo_override(browser_client, changed_workspace, "fresh-starts", start.pk, method="GET", path=PATH).status_code
        == 303
    )
    assert read_response()["properties"]["id"]["type"] == "unknown"


def test_the_row_of_a_node_that_was_not_observed_since_its_reset_claims_nothing(browser_client, changed_workspace):
    reset_node("/total")
    start = f"/w/{changed_workspace.workspace.slug}/production/operation"
    page = read_html(browser_client.get(start, {"method": "GET", "path": PATH}))
    row = page.partition("History of /total")[2].partition("⋯")[0]
    assert '<span class="tag">baseline reset</span>' in row
    assert "not counted before the reset" in row
    for claim in ("no longer seen", "first seen", "last seen", "0 %"):
        assert claim not in row, claim


def test_the_panel_of_a_node_shows_its_reset_and_offers_to_undo_it(browser_client, changed_workspace):
    address = post_reset(browser_client, changed_workspace)["Location"]
    (reset,) = BaselineReset.objects.all()
    undo = f"/rules/fresh-starts/{reset.pk}/"
    panel = (
        browser_client.get(address).content.decode().partition('id="field"')[2].partition("Reset baseline</button>")[0]
    )
    assert "only what was observed since is shown here" in panel
    assert undo in panel
    other = browser_client.get(address.replace("%2Fid", "%2Ftotal")).content.decode().partition('id="field"')[2]
    assert undo not in other.partition("Reset baseline</button>")[0]
    undo_baseline_reset(reset, actor="ann", now=timezone.now())
    panel = (
        browser_client.get(address).content.decode().partition('id="field"')[2].partition("Reset baseline</button>")[0]
    )
    assert "observed since" not in panel


@pytest.mark.parametrize("members", [{"pointer": "/nowhere"}, {"part": "500"}, {"path": "/nowhere"}])
def test_a_node_that_does_not_exist_is_refused(browser_client, changed_workspace, members):
    assert post_reset(browser_client, changed_workspace, **members).status_code == 404
    assert not BaselineReset.objects.exists()


def test_an_outsider_cannot_reset_a_node(client, changed_workspace):
    client.force_login(get_user_model().objects.create_user("outsider"))
    assert post_reset(client, changed_workspace).status_code == 404
    assert not BaselineReset.objects.exists()
