"""`manage.py create_environment WORKSPACE NAME`: add an environment."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from hub.management.workspace_commands import ACTOR, WorkspaceCommand
from workspaces.environments.add import create_environment
from workspaces.models import Workspace


class Command(WorkspaceCommand):
    help = "Add an environment; prints its audience, which its verifiers need."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name", metavar="NAME", help="lower-case letters, digits, - and _; it is never changed")
        parser.add_argument("--label", default="", help="what people read in its place")
        parser.add_argument("--json", action="store_true", help="one JSON object on one line")

    def act(self, workspace: Workspace, **options: Any) -> None:
        environment = create_environment(
            workspace, options["name"], label=options["label"], actor=ACTOR, now=timezone.now()
        )
        if options["json"]:
            facts = {"environment": environment.name, "label": environment.label, "audience": environment.audience}
            self.print_json(facts)
        else:
            self.stdout.write(f"{environment.name} of {workspace.slug}, audience {environment.audience}")
