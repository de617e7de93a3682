"""`manage.py close_v1 WORKSPACE --at 2026-12-31T00:00Z`: set until when version 1 intents pass."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from hub.management.workspace_commands import ACTOR, WorkspaceCommand, parse_date_option
from intents.rejections.accepted_versions import count_versions
from wire.time.period import DEFAULT_LENGTH
from workspaces.environments.v1_window import set_v1_end
from workspaces.models import Workspace


class Command(WorkspaceCommand):
    help = "Set the end of the window in which version 1 intents pass, or open it again; says how much v1 is left."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        choice = parser.add_mutually_exclusive_group(required=True)
        choice.add_argument("--at", metavar="TIME", help="2026-12-31 or 2026-12-31T00:00Z; UTC")
        choice.add_argument("--open", action="store_true", help="accept version 1 without end")

    def act(self, workspace: Workspace, **options: Any) -> None:
        now = timezone.now()
        end = None if options["open"] else parse_date_option(options["at"])
        set_v1_end(workspace, end, actor=ACTOR, now=now)
        until = "without end" if end is None else f"until {end:%Y-%m-%d %H:%M %Z}"
        versions = count_versions(workspace, now=now)
        calls = f"accepted calls of the last {DEFAULT_LENGTH.days} days"
        share = f"{versions.v1:,} of {versions.total:,} {calls} were version 1"
        self.stdout.write(f"{workspace.slug} accepts version 1 {until}. {share}.")
