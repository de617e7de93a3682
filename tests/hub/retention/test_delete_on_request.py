"""Deletions by command are complete, print what was deleted, and log only a keyed hash.

They include kept answers: those that are stored to be sent again for a repeated request.
"""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.utils import timezone

from hub.local.startup_errors import StartupError
from hub.retention.delete_on_request import hash_subject
from hub.sample.workspace import keys_file
from intents.models import MintedIntent
from outcomes.ingest import delete_conversation as conversations
from outcomes.ingest.record import Report, record_outcomes
from outcomes.models import Conversation
from wire.models import IdempotentAnswer
from wire.redelivery import idempotency
from wire.redelivery.idempotency import ANSWER_LIFETIME
from workspaces.models import AuditEntry, SampleWorkspace, Workspace
from workspaces.remove import hide_workspace

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("close_nonce_connections")]
REPORT = {"outcomes": [{"conversationId": id_, "outcomeKey": "purchase"} for id_ in ("c1", "c2")]}


def run(*arguments: str) -> str:
    output = StringIO()
    call_command(*arguments, stdout=output)
    return output.getvalue()


def test_deleting_a_conversation_deletes_kept_answers_that_contain_its_id(api, workspace):
    for number in (1, 2):
        api.post("/api/conversation-outcomes", REPORT, headers={"Idempotency-Key": f"both-{number}"})
    only_c2 = {"outcomes": REPORT["outcomes"][1:]}
    api.post("/api/conversation-outcomes", only_c2, headers={"Idempotency-Key": "c2"})
    rows = {"outcomes_conversation": 1, "outcomes_outcome": 1, "wire_idempotentanswer": 2}
    assert json.loads(run("delete_conversation", "lumen-books", "c1", "--json")) == {"deleted": rows}
    assert Conversation.objects.get().conversation_id == "c2"
    assert IdempotentAnswer.objects.get().key == "c2"
    entry = AuditEntry.objects.get(action="conversation deleted")
    hashed = hash_subject(workspace.workspace, "c1")
    assert entry.facts == {"conversation": hashed, "environments": "all", "rows": rows}
    assert (entry.actor, len(hashed)) == ("command line", 16)
    assert run("delete_conversation", workspace.workspace.pk, "c1") == "Nothing to delete.\n"


@pytest.mark.parametrize("command", ["delete_conversation", "delete_user"])
def test_an_empty_name_is_no_success(workspace, command):  # as "$SUB" is in a script that does not set SUB
    with pytest.raises(StartupError, match="is empty"):
        run(command, "lumen-books", "")


@pytest.mark.django_db(transaction=True)
def test_reports_do_not_wait_while_the_kept_answers_of_a_day_are_read(api, workspace, monkeypatch):
    for key in ("an hour ago", "just now"):
        api.post("/api/conversation-outcomes", REPORT, headers={"Idempotency-Key": key.replace(" ", "-")})
    hour_ago = IdempotentAnswer.objects.filter(key="an-hour-ago")
    hour_ago.update(expires_at=timezone.now() + ANSWER_LIFETIME - timedelta(hours=1))
    environment = workspace.workspace.environments.get(name="production")
    read_keys: list[str] = []
    waits: list[str] = []

    def report() -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '1s'")
            record_outcomes(environment, [Report("c3", "purchase")], now=timezone.now())
        except OperationalError:
            waits.append(read_keys[-1])
        finally:
            connection.close()

    def read_slowly(answer: IdempotentAnswer) -> Any:
        read_keys.append(answer.key)
        reporter = threading.Thread(target=report)
        reporter.start()
        reporter.join(30)
        return read_body(answer)

    read_body = idempotency._read_body
    monkeypatch.setattr(idempotency, "_read_body", read_slowly)
    rows = json.loads(run("delete_conversation", "lumen-books", "c1", "--json"))["deleted"]
    assert (rows["wire_idempotentanswer"], IdempotentAnswer.objects.count()) == (2, 0)
    assert "an-hour-ago" in read_keys
    assert "an-hour-ago" not in waits


@pytest.mark.django_db(transaction=True)
def test_an_answer_that_is_stored_during_the_deletion_is_deleted_too(api, workspace, monkeypatch):
    api.post("/api/conversation-outcomes", REPORT)

    def delete_late(*arguments: Any) -> Any:
        reporter = threading.Thread(target=report)
        reporter.start()
        reporter.join(30)
        return delete_rows(*arguments)

    def report() -> None:
        api.post("/api/conversation-outcomes", REPORT, headers={"Idempotency-Key": "late"})
        connection.close()

    delete_rows = conversations.delete_conversation
    monkeypatch.setattr(conversations, "delete_conversation", delete_late)
    rows = json.loads(run("delete_conversation", "lumen-books", "c1", "--json"))["deleted"]
    assert rows["wire_idempotentanswer"] == 1
    assert not IdempotentAnswer.objects.exists()


def test_the_named_environment_must_exist(api):
    api.post("/api/conversation-outcomes", {**REPORT, "environment": "staging"})
    assert run("delete_conversation", "lumen-books", "c1", "--environment", "production").startswith("Nothing")
    assert "1  outcomes_conversation" in run("delete_conversation", "lumen-books", "c1", "--environment", "staging")
    with pytest.raises(StartupError, match="This workspace has: production, staging"):
        run("delete_conversation", "lumen-books", "c1", "--environment", "nowhere")


def test_deleting_a_user_deletes_kept_answers_with_an_intent(api, workspace):
    for sub in ("user_1", "user_10"):
        call = {"sub": sub, "operation": "GET /orders", "args": {}}
        header = api.post("/api/intents", call, headers={"Idempotency-Key": sub}).json()["header"]
        body = {"header": header, "method": "GET", "path": "/orders"}
        assert api.post("/api/intents/verify", body, headers={"Idempotency-Key": sub}).status_code == 200
    rows = {"intents_mintedintent": 1, "wire_idempotentanswer": 2}
    assert json.loads(run("delete_user", "lumen-books", "user_1", "--json")) == {"deleted": rows}
    assert MintedIntent.objects.get().sub == "user_10"
    assert set(IdempotentAnswer.objects.values_list("key", flat=True)) == {"user_10"}
    entry = AuditEntry.objects.get(action="user deleted")
    assert entry.facts == {"user": hash_subject(workspace.workspace, "user_1"), "rows": rows}
    assert "user_1" not in str(list(AuditEntry.objects.values()))


def test_a_workspace_is_deleted_only_with_yes(workspace, other_workspace):
    with pytest.raises(StartupError, match="Add --yes"):
        run("delete_workspace", "lumen-books")
    rows = json.loads(run("delete_workspace", "lumen-books", "--yes", "--json"))["deleted"]
    assert rows["workspaces_workspace"] == 1
    assert Workspace.objects.get() == other_workspace.workspace
    entry = AuditEntry.objects.get(workspace_id="")
    assert (entry.actor, entry.facts["rows"]) == ("command line", rows)
    with pytest.raises(StartupError, match=r"there is no workspace 'lumen-books'\. This hub has: other-shop"):
        run("delete_workspace", "lumen-books", "--yes")


def test_the_command_finishes_a_deletion_that_had_begun(workspace):
    hide_workspace(workspace.workspace, actor="ann", now=workspace.workspace.created_at)
    assert "1  workspaces_workspace" in run("delete_workspace", "lumen-books", "--yes")
    assert AuditEntry.objects.get().actor == "ann"


def test_the_sample_loses_its_file_of_keys(workspace, settings, tmp_path):
    settings.HUB_DATA_DIR = tmp_path
    SampleWorkspace.objects.create(workspace=workspace.workspace, made_at=workspace.workspace.created_at)
    keys_file().write_text("{}")
    run("delete_workspace", "lumen-books", "--yes")
    assert not keys_file().exists()
