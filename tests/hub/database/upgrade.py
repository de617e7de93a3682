"""Upgrade a database with data while code of the previous version reads and writes data.

Print the results of these reads and writes as JSON. `manage.py shell` runs this module, in its own data directory.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.apps.registry import Apps
from django.core.management import call_command
from django.db import DatabaseError, connection, connections, transaction
from django.db.migrations.executor import MigrationExecutor
from django.test import Client

from tests.project.test_migrations import APPS, BASE

ROWS = 500
NOW = datetime(2026, 11, 1, tzinfo=UTC)


@dataclass
class OldCode:
    """A stand-in for a process of the previous version: its models, and the results of its reads and writes."""

    apps: Apps
    written: int = 0
    longest_seconds: float = 0.0
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def model(self, name: str) -> Any:
        return self.apps.get_model(name)

    def add_workspace(self) -> None:
        workspace = self.model("workspaces.Workspace").objects.create(name="Old", slug="old")
        facts = {"name": "production", "audience": "urn:old", "label": ""}
        self.environment = self.model("workspaces.Environment").objects.create(workspace=workspace, **facts)

    def write(self) -> None:
        """Write one row of each kind as a request does, and read the latest outcome."""
        environment = self.environment
        conversation = self.model("outcomes.Conversation").objects.create(
            environment=environment, conversation_id=str(uuid.uuid4()), registered_at=NOW
        )
        outcome = self.model("outcomes.Outcome").objects.create(
            environment=environment, conversation=conversation, outcome_key="purchase", reports=1, broken=False,
            first_reported_at=NOW, last_reported_at=NOW,
        )  # fmt: skip
        outcome.reports += 1
        outcome.save(update_fields=["reports"])
        self.model("catalog.WitnessReport").objects.create(
            environment=environment, report_id=uuid.uuid4(), reporter="", size=2, sums=[], received_at=NOW, fault="",
        )  # fmt: skip
        self.model("intents.Rejection").objects.create(
            environment=environment, occurred_at=NOW, reason="expired", version=2, operation="GET /", tool_call_id="",
            count=1,
        )  # fmt: skip
        self.model("workspaces.AuditEntry").objects.create(
            workspace_id=environment.workspace_id, actor="old", action="key.created"
        )
        self.model("outcomes.Outcome").objects.filter(environment=environment).order_by("-last_reported_at")[:1].get()
        self.written += 1

    def _run(self) -> None:
        while not self._stop.is_set():
            started_at = time.monotonic()
            try:
                with transaction.atomic():
                    self.write()
            except DatabaseError as error:
                self.faults.append(f"{type(error).__name__}: {error}"[:300])
                time.sleep(0.1)
            self.longest_seconds = max(self.longest_seconds, time.monotonic() - started_at)
        connections.close_all()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()


def count_rows() -> dict[str, int]:
    """Return the number of rows in each of four tables that the old code writes."""
    tables = ("outcomes_conversation", "outcomes_outcome", "catalog_witnessreport", "intents_rejection")
    with connection.cursor() as cursor:
        counts = {}
        for table in tables:
            cursor.execute(f"SELECT count(*) FROM {table}")
            counts[table] = int(cursor.fetchone()[0])
    return counts


def main() -> None:
    executor = MigrationExecutor(connection)
    leaves = [node for node in executor.loader.graph.leaf_nodes() if node[0] not in APPS]
    executor.migrate([*leaves, *BASE.items()])
    old_code = OldCode(executor.loader.project_state([*BASE.items()]).apps)
    old_code.add_workspace()
    with transaction.atomic():
        for _ in range(ROWS):
            old_code.write()
    old_code.start()
    time.sleep(1)
    before = old_code.written
    call_command("migrate", verbosity=0)
    after = old_code.written
    time.sleep(1)
    old_code.stop()
    facts = asdict(old_code) | {"before": before, "after": after, "rows": count_rows()}
    facts.pop("apps")
    facts["ready"] = Client().get("/readyz", headers={"Host": "localhost"}).status_code
    print(json.dumps(facts))
