"""Removing a workspace deletes everything of it, and nothing of other workspaces."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from alerts.setup.targets import create_target
from catalog.ingest.fold import fold_reports
from hub.retention.change_days import change_retention
from intents.models import UsedNonce
from wire.errors import NotFound
from workspaces import tasks
from workspaces.access import list_workspaces
from workspaces.create import NewWorkspace
from workspaces.environments.add import create_environment
from workspaces.environments.change import change_environment
from workspaces.keys.create import create_key
from workspaces.models import AuditEntry, Environment, SampleWorkspace, Workspace
from workspaces.people.invitations.invite import invite
from workspaces.remove import (
    delete_hidden_workspace,
    find_deletion_counts,
    hide_workspace,
    list_hidden_workspaces,
    remove_workspace,
)
from workspaces.secrets.rotate import prepare_secret

pytestmark = pytest.mark.django_db

NOW = timezone.now()


def rows() -> Counter[str]:
    """Count the rows of each table of the hub. Leave out used nonces, which belong to no workspace and expire."""
    ours = {"wire", "workspaces", "catalog", "outcomes", "intents", "alerts", "hub"}
    models = [model for model in apps.get_models() if model._meta.app_label in ours and model is not UsedNonce]
    return Counter({model._meta.db_table: model._base_manager.count() for model in models})


def fill(created: NewWorkspace, api: Any) -> None:
    """Put rows into tables of all domains, as machines do."""

    def post(address: str, body: Any) -> Any:
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        response = api.post(address, body, key=created.full_key, headers=headers)
        assert response.status_code < 300, response.content
        return response.json()

    post("/api/conversations", {"conversations": [{"conversationId": "c1"}, {"conversationId": "c2"}]})
    outcomes = [{"conversationId": name, "outcomeKey": "purchase"} for name in ("c1", "c2", "unknown")]
    post("/api/conversation-outcomes", {"outcomes": outcomes})
    seen = {"method": "GET", "path": "/orders", "status": 200, "count": 1, "response": {"type": "string"}}
    post("/api/witness-reports", {"reportId": str(uuid.uuid4()), "observations": [seen]})
    post("/api/verification-reports", {"reportId": str(uuid.uuid4()), "verifications": [{"result": "expired"}]})
    call = {"sub": "user_1", "operation": "POST /orders", "args": {}}
    confirmation_id = post("/api/confirmations", {**call, "summary": "Order"})["confirmationId"]
    post(f"/api/confirmations/{confirmation_id}/decision", {"decision": "confirm"})
    post("/api/intents", {**call, "confirmationId": confirmation_id})
    post("/api/annotations", {"text": "Deploy 4.2"})
    post("/api/annotations", {"text": "Holiday", "allEnvironments": True})
    for environment in Environment.objects.filter(workspace=created.workspace):
        fold_reports(environment, now=timezone.now())


ACTIONS: Mapping[str, Callable[[Environment], Any]] = {
    "key": lambda row: create_key(row.workspace, ["report"], actor="ann", now=NOW),
    "environment": lambda row: create_environment(row.workspace, "qa", actor="ann", now=NOW),
    "audience": lambda row: change_environment(row, label="", audience="https://a.example", actor="ann", now=NOW),
    "secret": lambda row: prepare_secret(row.workspace, actor="ann", now=NOW),
    "invitation": lambda row: invite(row.workspace, "bob@example.com", "viewer", actor="ann", now=NOW),
    "retention": lambda row: change_retention(row.workspace, {"intents": 9}, actor="ann", now=NOW),
    "target": lambda row: create_target(row.workspace, "email", "ops", "ops@example.com", actor="ann", now=NOW),
}


@pytest.mark.parametrize("remove", [remove_workspace, hide_workspace])
@pytest.mark.parametrize("action", ACTIONS.values(), ids=ACTIONS)
def test_a_form_that_is_sent_while_its_workspace_is_deleted_is_answered_as_not_found(
    workspace, settings, action, remove
):
    settings.EMAIL_URL = "smtp://localhost"
    row = Environment.objects.select_related("workspace").get(workspace=workspace.workspace, name="production")
    remove(workspace.workspace, actor="test", now=NOW)
    with pytest.raises(NotFound, match="in the meantime"):
        action(row)


def test_every_table_has_only_the_rows_of_other_workspaces(api, workspace, other_workspace):
    fill(other_workspace, api)
    # Both workspaces get equally many rows, so half of all rows must be left.
    fill(workspace, api)
    before = rows()
    deleted = Counter(remove_workspace(workspace.workspace, actor="test", now=timezone.now()))
    entry = AuditEntry.objects.get(workspace_id="")
    assert (entry.action, entry.actor) == ("workspace deleted", "test")
    assert entry.facts == {"workspace": f"{workspace.workspace.pk[:8]}…", "rows": deleted}
    entry.delete()
    after = rows()
    assert after == {table: count // 2 for table, count in before.items()}
    # Besides these rows, the removed workspace had an audit entry about who requested the removal.
    deleted["workspaces_auditentry"] -= 1
    assert {table: count for table, count in after.items() if count} == deleted
    assert list(Workspace.objects.all()) == [other_workspace.workspace]


def test_only_the_keys_of_the_removed_workspace_are_refused(api, workspace, other_workspace):
    remove_workspace(workspace.workspace, actor="test", now=timezone.now())
    body = {"outcomes": []}
    assert api.post("/api/conversation-outcomes", body, key=workspace.full_key).status_code == 401
    assert api.post("/api/conversation-outcomes", body, key=other_workspace.full_key).status_code == 200


def test_a_removal_is_logged_with_who_did_it_and_without_a_key_or_a_secret(caplog, workspace):
    remove_workspace(workspace.workspace, actor="test-operator", now=timezone.now())
    assert "was deleted by test-operator" in caplog.text
    assert workspace.workspace.pk not in caplog.text
    assert workspace.full_key not in caplog.text
    assert workspace.signing_secret not in caplog.text


def test_only_an_operator_removes_the_sample_and_its_page_asks_first(browser_client, workspace):
    page = f"/w/{workspace.workspace.slug}/remove-sample"
    assert browser_client.post(page).status_code == 404
    SampleWorkspace.objects.create(workspace=workspace.workspace, made_at=timezone.now())
    overview = browser_client.get(f"/w/{workspace.workspace.slug}/production/overview").content.decode()
    assert f'href="{page}"' in overview
    assert f'action="{page}"' not in overview
    question = browser_client.get(page).content.decode()
    assert "Remove Lumen Books?" in question
    assert "This cannot be undone" in question
    assert list_hidden_workspaces() == []
    assert Client().post(page).status_code == 302
    assert Client(enforce_csrf_checks=True).post(page).status_code == 403
    assert Workspace.objects.count() == 1
    assert browser_client.post(page).url == "/"
    assert not list_workspaces(get_user_model().objects.get(username="test-operator"))
    assert browser_client.post(page).status_code == 404
    tasks.sweep()
    assert Workspace.objects.count() == 0


def test_a_hidden_workspace_is_gone_for_keys_and_pages_before_its_rows_are_deleted(api, browser_client, workspace):
    fill(workspace, api)
    before = rows()
    hide_workspace(workspace.workspace, actor="ann", now=timezone.now())
    for page in ("overview", "catalog.json", "keys", "joins.csv?table=joins"):
        assert browser_client.get(f"/w/lumen-books/production/{page}").status_code == 404
    assert api.get("/w/lumen-books/production/overview.json").status_code == 401
    for key in (workspace.report_key, workspace.platform_key, workspace.full_key):
        assert api.post("/api/conversation-outcomes", {"outcomes": []}, key=key).status_code == 401
    assert rows() == before + Counter({"workspaces_auditentry": 1})
    assert list_hidden_workspaces() == [workspace.workspace.pk]


def test_hiding_and_deleting_can_be_repeated(workspace):
    pk, now = workspace.workspace.pk, timezone.now()
    assert delete_hidden_workspace(pk, now=now) == {}, "it is not hidden"
    hide_workspace(workspace.workspace, actor="ann", now=now)
    hide_workspace(workspace.workspace, actor="bob", now=now)
    counts = delete_hidden_workspace(pk, now=now)
    assert counts["workspaces_workspace"] == 1
    assert delete_hidden_workspace(pk, now=now) == {}
    assert find_deletion_counts(pk) == remove_workspace(workspace.workspace, actor="bob", now=now) == counts
    assert AuditEntry.objects.get(workspace_id="").actor == "ann"
