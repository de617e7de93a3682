"""`manage.py delete_conversation WORKSPACE ID`: delete all that is stored of a conversation id."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from hub.management.deleted_rows import format_deleted_rows
from hub.management.workspace_commands import ACTOR, WorkspaceCommand, require_text
from hub.retention.delete_on_request import delete_conversation
from workspaces.errors import UnknownEnvironment
from workspaces.models import Workspace


class Command(WorkspaceCommand):
    help = "Delete a conversation id with its outcomes, and take it out of all counts; prints the numbers of rows."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("conversation", metavar="ID", help="the conversationId, exactly")
        parser.add_argument(
            "--environment", metavar="NAME", action="append", default=[], help="only in this one; may be repeated"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object on one line")

    def act(self, workspace: Workspace, **options: Any) -> None:
        names = list(workspace.environments.values_list("name", flat=True))
        if not set(options["environment"]) <= set(names):
            raise UnknownEnvironment(names)
        rows = delete_conversation(
            workspace,
            require_text(options["conversation"], "ID"),
            options["environment"],
            actor=ACTOR,
            now=timezone.now(),
        )
        self.stdout.write(format_deleted_rows(rows, as_json=options["json"]))
