"""A workspace can be removed while its keys are in use. Its writers get a clear answer, and no row is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import uuid
from collections import Counter
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from intents.models import MintedIntent
from outcomes.models import Conversation
from workspaces import tasks
from workspaces.create import NewWorkspace, create_workspace
from workspaces.models import Environment, Workspace
from workspaces.remove import find_deletion_counts, hide_workspace, remove_workspace

pytestmark = pytest.mark.django_db(transaction=True)

WRITERS = 4
CALL = {"sub": "user_1", "operation": "POST /orders", "args": {}}


class Writer(threading.Thread):
    """A machine that confirms, mints and reports in a loop until it is answered with 401, 404, 500 or 503."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.client = Client(raise_request_exception=False)
        self.key = key
        self.statuses: Counter[int] = Counter()

    def run(self) -> None:
        try:
            while not {401, 404, 500, 503} & self.statuses.keys():
                self.round()
        finally:
            connection.close()

    def round(self) -> None:
        confirmation_id = self.post("/api/confirmations", {**CALL, "summary": "Order"}).get("confirmationId", "")
        self.post(f"/api/confirmations/{confirmation_id or uuid.uuid4()}/decision", {"decision": "confirm"})
        self.post("/api/intents", {**CALL, "confirmationId": confirmation_id or str(uuid.uuid4())})
        self.post("/api/conversations", {"conversations": [{"conversationId": "c1"}]})
        self.post("/api/conversation-outcomes", {"outcomes": [{"conversationId": "c1", "outcomeKey": "paid"}]})
        verifications = [{"result": "replayed"}]
        self.post("/api/verification-reports", {"reportId": str(uuid.uuid4()), "verifications": verifications})

    def post(self, address: str, body: Any) -> Any:
        sent = {"x-service-api-key": self.key}
        response = self.client.post(address, json.dumps(body), content_type="application/json", headers=sent)
        self.statuses[response.status_code] += 1
        return response.json()


def test_writers_are_refused_without_an_error_during_a_removal():
    created = create_workspace("Lumen Books", [], actor="test", now=timezone.now(), with_full_key=True)
    writers = [Writer(created.full_key) for _ in range(WRITERS)]
    for writer in writers:
        writer.start()
    while MintedIntent.objects.count() < WRITERS * 3:
        assert all(writer.is_alive() for writer in writers), [writer.statuses for writer in writers]
    remove_workspace(created.workspace, actor="test", now=timezone.now())
    for writer in writers:
        writer.join(timeout=30)
    statuses = sum((writer.statuses for writer in writers), Counter())
    assert set(statuses) <= {200, 201, 401, 404, 409}, statuses
    assert not Workspace.objects.exists()
    assert not MintedIntent.objects.exists()
    assert not Conversation.objects.exists()


def test_a_removal_waits_for_a_transaction_that_locks_the_environment(workspace: NewWorkspace):
    environment = Environment.objects.get(workspace=workspace.workspace, name="production")
    is_held, go_on, removed = threading.Event(), threading.Event(), threading.Event()

    def write() -> None:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN")
            environment.hold()
            is_held.set()
            go_on.wait(30)
            cursor.execute("COMMIT")
        connection.close()

    def take_away() -> None:
        remove_workspace(workspace.workspace, actor="test", now=timezone.now())
        removed.set()
        connection.close()

    threads = [threading.Thread(target=write), threading.Thread(target=take_away)]
    threads[0].start()
    assert is_held.wait(10)
    threads[1].start()
    assert not removed.wait(0.3)
    go_on.set()
    for thread in threads:
        thread.join(30)
    assert removed.is_set()


KILLED = """
import os, django
from unittest import mock
from django.conf import settings
settings.DATABASES["default"]["HOST"] = os.environ["SOCKET"]
django.setup()
from django.utils import timezone
from workspaces import remove

def fail(*arguments, **facts):
    os.kill(os.getpid(), 9)  # when all tables but the log of the hub are done

with mock.patch.object(remove, "record_audit", fail):
    remove.delete_hidden_workspace(os.environ["WORKSPACE"], now=timezone.now())
"""


def test_a_killed_deletion_is_finished_by_the_next_sweep(workspace: NewWorkspace, tmp_path):
    hide_workspace(workspace.workspace, actor="ann", now=timezone.now())
    keys = workspace.workspace.api_keys.count()
    facts = connection.settings_dict
    url = f"postgresql://{facts['USER']}:{facts['PASSWORD']}@localhost/{facts['NAME']}"
    settings = {
        "DJANGO_SETTINGS_MODULE": "hub.settings", "DATABASE_URL": url, "PGHOSTADDR": "", "SECRET_KEY": "k" * 50,
        "HUB_DATA_DIR": str(tmp_path), "WORKSPACE": workspace.workspace.pk, "SOCKET": str(facts["HOST"]),
    }  # fmt: skip
    killed = subprocess.run([sys.executable, "-c", KILLED], env={**os.environ, **settings}, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert workspace.workspace.api_keys.count() == keys
    tasks.sweep()
    assert not Workspace.objects.exists()
    assert find_deletion_counts(workspace.workspace.pk)["workspaces_apikey"] == keys
