"""`manage.py delete_user WORKSPACE SUB`: delete all that names an end user."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from hub.management.deleted_rows import format_deleted_rows
from hub.management.workspace_commands import ACTOR, WorkspaceCommand, require_text
from hub.retention.delete_on_request import delete_user
from workspaces.models import Workspace


class Command(WorkspaceCommand):
    help = "Delete the minted intents, confirmations and stored answers of a user; prints the numbers of deleted rows."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("sub", metavar="SUB", help="the user's sub, as in intents, exactly")
        parser.add_argument("--json", action="store_true", help="one JSON object on one line")

    def act(self, workspace: Workspace, **options: Any) -> None:
        rows = delete_user(workspace, require_text(options["sub"], "SUB"), actor=ACTOR, now=timezone.now())
        self.stdout.write(format_deleted_rows(rows, as_json=options["json"]))
