"""The sample workspace: the example's bookshop at work, so that a new hub has something to look at.

A new database gets it, unless HUB_SAMPLE says no. Once the hub is up, two processes of their own fill it: one makes
its last 30 days, the other lets people talk for as long as the hub runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from workspaces.audit import record_audit
from workspaces.create import create_workspace
from workspaces.models import AuditEntry, Workspace

NAME, SECOND_ENVIRONMENT = "Lumen Books", "staging"
MADE = "sample made"
ACTOR = "sample"
BEGAN_BEFORE = timedelta(days=31)
RELEASE_AFTER = timedelta(minutes=3)  # then drift can be watched as it is noticed


def keys_file() -> Path:
    """Its keys, as `create_workspace --json` prints them; there is a sample for as long as there is this file."""
    return settings.HUB_DATA_DIR / "sample.json"


@transaction.atomic
def create(*, now: datetime) -> None:
    """The workspace and its keys; what happens in it comes later."""
    created = create_workspace(NAME, [SECOND_ENVIRONMENT], actor=ACTOR, now=now - BEGAN_BEFORE)
    record_audit(created.workspace.pk, MADE, {"days": 0}, actor=ACTOR, now=now)
    keys_file().unlink(missing_ok=True)
    descriptor = os.open(keys_file(), os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(created.as_json(), file)


def start_processes(address: str) -> Iterator[subprocess.Popen[bytes]]:
    """Its traffic, and what is missing of its history. address: of this hub."""
    if not settings.HUB_SAMPLE or not (made := found()):
        return
    release = str((made[1].at + RELEASE_AFTER).timestamp())
    here = {"cwd": settings.BASE_DIR, "env": {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}}
    here["start_new_session"] = True  # a terminal's Ctrl-C is for `up`, which ends them
    command = [sys.executable, "-m", "examples.bookshop", "-", "--hub", address, "--released-at", release]
    traffic = subprocess.Popen(command, stdin=subprocess.PIPE, **here)
    with traffic.stdin as keys:  # the file may be gone before the process looks for it
        keys.write(json.dumps(made[0]).encode())
    yield traffic
    yield subprocess.Popen([sys.executable, "manage.py", "sample_history"], **here)


def found() -> tuple[Mapping[str, Any], AuditEntry] | None:
    """Its keys, and the entry that says when it was made and how many days of its history there are."""
    try:
        created = json.loads(keys_file().read_text())
    except FileNotFoundError:
        return None
    entry = AuditEntry.objects.filter(workspace_id=created["workspaceId"], action=MADE).first()
    return (created, entry) if entry else None


def is_sample(workspace: Workspace) -> bool:
    return workspace.audit_entries.filter(action=MADE).exists()


def forget() -> None:
    """The keys of a sample that was removed."""
    keys_file().unlink(missing_ok=True)
