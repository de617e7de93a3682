"""The sample workspace: the example's bookshop with its traffic, so that a new hub has data to show.

A new database gets it, unless HUB_SAMPLE is off. Once the hub is up, a process of its own fills it: it simulates the
last 30 days, then it becomes the example's program, which simulates conversations for as long as the hub runs. The
history comes first, because the catalog would date drift wrongly if it learnt a past day after today.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from catalog.models import Operation
from hub.private_files import write_private_file
from hub.sample.history_days import HISTORY_DAYS
from hub.sample.keys import replace_keys
from intents.models import Confirmation, Rejection
from outcomes.models import Conversation, Outcome
from workspaces.create import create_workspace
from workspaces.models import SampleWorkspace, Workspace

NAME, SECOND_ENVIRONMENT = "Lumen Books", "staging"
ACTOR = "sample"
AGE = timedelta(days=HISTORY_DAYS + 1)
RELEASE_DELAY = timedelta(minutes=3)  # then the shop releases new responses, and their drift can be watched live


def keys_file() -> Path:
    """Return the file of the sample's keys, as `create_workspace --json` prints them; without it there is no sample."""
    path: Path = settings.HUB_DATA_DIR / "sample.json"
    return path


@transaction.atomic
def create(*, now: datetime) -> None:
    """Create the workspace and store its keys; its history and traffic come later."""
    new_workspace = create_workspace(NAME, [SECOND_ENVIRONMENT], actor=ACTOR, now=now - AGE)
    keys = replace_keys(new_workspace.workspace, actor=ACTOR, now=now - AGE)
    SampleWorkspace.objects.create(workspace=new_workspace.workspace, made_at=now)
    keys_file().unlink(missing_ok=True)
    write_private_file(keys_file(), json.dumps({**new_workspace.as_json(), **keys}))


def list_processes(address: str) -> Iterator[tuple[list[str], str]]:
    """Yield the process that simulates the missing part of the history, then the traffic.

    address: the address of this hub.

    A process is a pair: its arguments for Python, and the text of its standard input.
    """
    if settings.HUB_SAMPLE and (sample := find_sample()):
        # Standard input holds the keys, because their file may be gone before the process looks for it.
        yield ["manage.py", "sample_history", "--then-live-on", address], json.dumps(sample[0])


def list_live_arguments(row: SampleWorkspace, address: str) -> list[str]:
    """Return the arguments for Python of the live traffic, which reads the keys from standard input."""
    release = str((row.made_at + RELEASE_DELAY).timestamp())
    return ["-m", "examples.bookshop", "-", "--hub", address, "--released-at", release]


def find_sample() -> tuple[Mapping[str, Any], SampleWorkspace] | None:
    """Return the sample's keys, and its row, which has the time of creation and the number of days in the history."""
    try:
        workspace_facts = json.loads(keys_file().read_text())
    except FileNotFoundError:
        return None
    row = SampleWorkspace.objects.filter(workspace_id=workspace_facts["workspaceId"]).first()
    return (workspace_facts, row) if row else None


def is_sample(workspace: Workspace) -> bool:
    return SampleWorkspace.objects.filter(workspace=workspace).exists()


def count_rows(workspace: Workspace) -> Mapping[str, int]:
    """Return how many rows of each kind the removal of the sample deletes, by the name of the kind on pages."""
    environments = workspace.environments.all()
    return {
        "Environments": environments.count(),
        "API keys": workspace.api_keys.count(),
        "Conversations": Conversation.objects.filter(environment__in=environments).count(),
        "Outcomes": Outcome.objects.filter(environment__in=environments).count(),
        "Operations": Operation.objects.filter(environment__in=environments).count(),
        "Rejections": Rejection.objects.filter(environment__in=environments).count(),
        "Confirmations": Confirmation.objects.filter(environment__in=environments).count(),
    }


def forget_keys() -> None:
    keys_file().unlink(missing_ok=True)
