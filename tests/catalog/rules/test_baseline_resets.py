"""After a baseline reset only later observations are shown; an undo restores everything exactly (contract §4)."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from catalog.models import BaselineReset, Drift, Operation
from catalog.rules.baseline_resets import reset_baseline, undo_baseline_reset
from catalog.rules.errors import NO_CHANGE
from tests.at_once import run_twice_at_once
from tests.catalog.reports import deliver, observation, undo_override
from workspaces.models import AuditEntry

pytestmark = pytest.mark.django_db
PATH = "/orders/{orderId}"
AT = 1_790_000_000
ON_THAT_DAY = datetime.fromtimestamp(AT, UTC)
OLD, NEW = {"id": 1, "note": "x"}, {"id": "1", "total": 2}


def read_document() -> Any:
    """Return the catalog's document of the only operation."""
    return json.loads(Operation.objects.get().document)


def reset() -> BaselineReset:
    return reset_baseline(Operation.objects.order_by("environment_id")[0], actor="ann", now=ON_THAT_DAY)


@pytest.fixture
def changed_workspace(api: Any, workspace: Any) -> Any:
    """Return a workspace with an intended type change, which leaves the type unknown."""
    deliver(api, workspace, *[observation(response=OLD, lastSeenAt=AT)] * 5)
    deliver(api, workspace, observation(response=NEW, lastSeenAt=AT))
    assert read_document()["responses"]["200"]["properties"]["id"]["type"] == "unknown"
    return workspace


def test_only_observations_after_a_reset_are_shown(api, changed_workspace):
    reset()
    assert read_document()["responses"] == {"200": {"type": "unknown", "reason": "empty", "seen": 0}}
    deliver(api, changed_workspace, *[observation(response=NEW, lastSeenAt=AT)] * 3)
    properties = read_document()["responses"]["200"]["properties"]
    assert {name: (shape["type"], shape["seen"]) for name, shape in properties.items()} == {
        "id": ("string", 3),
        "total": ("integer", 3),
    }
    assert read_document()["observations"] == 9


@pytest.mark.django_db(transaction=True)
def test_a_reset_made_twice_at_once_is_one_reset_whose_undo_restores_everything(api, changed_workspace):
    before = read_document()
    run_twice_at_once(reset)
    undo_baseline_reset(BaselineReset.objects.get(), actor="ann", now=ON_THAT_DAY)
    assert read_document() == before
    assert AuditEntry.objects.filter(action="baseline reset").count() == 1


def test_a_reset_after_new_observations_or_an_undo_is_another_reset(api, changed_workspace):
    first = reset()
    deliver(api, changed_workspace, observation(response=NEW, lastSeenAt=AT))
    second = reset()
    undo_baseline_reset(second, actor="ann", now=ON_THAT_DAY)
    assert len({first, second, reset()}) == 3


def test_the_first_descriptor_after_a_reset_is_a_version_and_no_drift(api, changed_workspace):
    before = Drift.objects.count()
    reset()
    deliver(api, changed_workspace, observation(response=NEW))
    assert (Operation.objects.get().version, Drift.objects.count()) == (4, before)
    deliver(api, changed_workspace, observation(response={**NEW, "more": 1}))
    assert Drift.objects.latest("id").pointer == "/more"


@pytest.mark.parametrize("seed", range(5))
def test_after_an_undo_all_bytes_are_as_without_the_reset(api, workspace, seed):
    chance = random.Random(seed)
    starts, observations = [], []
    for _ in range(12):
        seen = observation(
            response=chance.choice([OLD, NEW, {"id": None}, [1], {"tags": []}]),
            status=chance.choice([200, 200, 409]),
            lastSeenAt=AT,
        )
        observations.append(seen)
        deliver(api, workspace, seen)
        if chance.random() < 0.4:
            starts.append(reset())
        if starts and chance.random() < 0.3:
            undo_baseline_reset(chance.choice(starts), actor="ann", now=timezone.now())
    deliver(api, workspace, *observations, environment="staging")
    for start in chance.sample(starts, len(starts)):
        undo_baseline_reset(start, actor="ann", now=timezone.now())
    started, never = Operation.objects.order_by("environment_id")
    assert started.epoch > 0
    assert (started.document, started.outline) == (never.document, never.outline)


def test_a_later_reset_stays_when_an_earlier_one_is_undone(api, changed_workspace):
    first = reset()
    deliver(api, changed_workspace, observation(response=NEW, lastSeenAt=AT))
    second = reset()
    undo_baseline_reset(first, actor="ann", now=timezone.now())
    assert Operation.objects.get().shown_from == second.epoch
    undo_baseline_reset(second, actor="ann", now=timezone.now())
    assert Operation.objects.get().shown_from == 0
    version = Operation.objects.get().version
    undo_baseline_reset(second, actor="ann", now=timezone.now())
    assert Operation.objects.get().version == version


def test_a_reset_and_its_undo_are_in_the_audit_log(changed_workspace):
    undo_baseline_reset(reset(), actor="bob", now=timezone.now())
    entries = AuditEntry.objects.filter(workspace_id=changed_workspace.workspace.pk).exclude(action="workspace created")
    assert {(entry.actor, entry.action, entry.facts["operation"]) for entry in entries} == {
        ("ann", "baseline reset", f"GET {PATH}"),
        ("bob", "baseline reset undone", f"GET {PATH}"),
    }


def post_reset(client: Client, created: Any, **members: str) -> Any:
    address = f"/w/{created.workspace.slug}/production/operation/baseline"
    return client.post(address, {"method": "GET", "path": PATH, **members})


def test_a_member_resets_the_baseline_and_undoes_it_on_the_page(browser_client, changed_workspace):
    answer = post_reset(browser_client, changed_workspace)
    assert (answer.status_code, BaselineReset.objects.get().actor) == (303, "test-operator")
    page = browser_client.get(answer["Location"]).content.decode()
    assert "baseline begins here" in page
    assert "since the baseline reset" in page
    again = browser_client.get(post_reset(browser_client, changed_workspace)["Location"]).content.decode()
    assert NO_CHANGE["reset"] in again
    assert BaselineReset.objects.count() == 1
    start, location = BaselineReset.objects.get(), {"method": "GET", "path": PATH}
    back = undo_override(browser_client, changed_workspace, "fresh-starts", start.pk, **location)
    assert (back.status_code, "/operation?" in back["Location"]) == (303, True)
    assert BaselineReset.objects.get().undone_at
    assert undo_override(browser_client, changed_workspace, "fresh-starts", start.pk + 1, **location).status_code == 404
    assert post_reset(browser_client, changed_workspace, path="/nowhere").status_code == 404


def test_strangers_keys_and_outsiders_reset_no_baseline(client, changed_workspace, other_workspace):
    """Neither a person who is not signed in, nor an API key, nor a person without membership resets one."""
    assert post_reset(client, changed_workspace).status_code == 302
    key = {"x-service-api-key": changed_workspace.full_key}
    by_key = client.post(f"/w/{changed_workspace.workspace.slug}/production/operation/baseline", headers=key)
    assert by_key.status_code == 302
    client.force_login(get_user_model().objects.create_user("outsider"))
    assert post_reset(client, changed_workspace).status_code == 404
    assert not BaselineReset.objects.exists()


def test_a_get_request_changes_nothing(browser_client, changed_workspace):
    assert browser_client.get(f"/w/{changed_workspace.workspace.slug}/production/operation/baseline").status_code == 405


@pytest.mark.parametrize("name", ["tools", "mcp"])
def test_a_tool_does_not_say_that_answers_had_no_body_before_one_was_observed_again(
    api, changed_workspace, browser_client, name
):
    """After a baseline reset, the tool says that no body was observed since, until the next answer is observed."""

    def read_tool() -> Any:
        answer = api.get(f"/api/catalog/{name}.json")
        page = browser_client.get(
            f"/w/{changed_workspace.workspace.slug}/production/operation", {"method": "GET", "path": PATH}
        )
        (tool,) = answer.json()["tools"]
        assert json.loads(page.context["tool"])["description"] == tool["description"]
        assert api.get(f"/api/catalog/{name}.json", headers={"If-None-Match": answer["ETag"]}).status_code == 304
        return tool["description"]

    deliver(api, changed_workspace, observation(status=204, lastSeenAt=AT))
    description = read_tool()
    start = reset()
    assert read_tool() == (
        f"GET {PATH}. Answers 200 with a body that was not observed since a baseline reset, 204 without a body."
    )
    deliver(api, changed_workspace, observation(lastSeenAt=AT))
    assert read_tool() == f"GET {PATH}. Answers 200 without a body, 204 without a body."
    deliver(api, changed_workspace, observation(response={"id": 1}, lastSeenAt=AT))
    assert read_tool() == f"GET {PATH}. Answers 200 with an object (id), 204 without a body."
    undo_baseline_reset(start, actor="ann", now=timezone.now())
    assert read_tool() == description
