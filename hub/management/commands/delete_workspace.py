"""`manage.py delete_workspace WORKSPACE --yes`: delete a workspace with everything that belongs to it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.db.models import Q
from django.utils import timezone

from hub.local.database.prepare import prepare_unused_database
from hub.local.startup_errors import StartupError
from hub.management.deleted_rows import format_deleted_rows
from hub.management.workspace_commands import ACTOR, WorkspaceCommand, find_workspace, one_line_errors
from hub.retention.delete_on_request import delete_workspace
from workspaces.models import Workspace


class Command(WorkspaceCommand):
    help = "Delete a workspace for good; prints the numbers of deleted rows. Its keys and pages stop working at once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--yes", action="store_true", help="delete; without --yes, nothing is deleted")
        parser.add_argument("--json", action="store_true", help="one JSON object on one line")

    def handle(self, *args: Any, workspace: str, **options: Any) -> None:
        prepare_unused_database()
        with one_line_errors():
            # A workspace whose deletion has begun is found too: this command finishes it.
            hidden_workspace = (
                Workspace.objects.exclude(removed_at=None).filter(Q(slug=workspace) | Q(pk=workspace)).first()
            )
            self.act(hidden_workspace or find_workspace(workspace), **options)

    def act(self, workspace: Workspace, **options: Any) -> None:
        if not options["yes"]:
            raise StartupError(f"this deletes {workspace.name} ({workspace.pk}) for good. Add --yes if you mean it.")
        rows = delete_workspace(workspace, actor=ACTOR, now=timezone.now())
        self.stdout.write(format_deleted_rows(rows, as_json=options["json"]))
