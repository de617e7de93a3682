"""`manage.py rotate_secret WORKSPACE`: make a new signing secret, in one step or two; it is shown once."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.utils import timezone

from hub.management.workspace_commands import ACTOR, WorkspaceCommand
from workspaces.models import Workspace
from workspaces.secrets.rotate import PREVIOUS_VERIFIES_FOR, activate_secret, prepare_secret, rotate_secret


class Command(WorkspaceCommand):
    help = (
        "Make a new signing secret. The previous one verifies for "
        f"{PREVIOUS_VERIFIES_FOR // timedelta(hours=1)} hours more, or until it is revoked."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        steps = parser.add_mutually_exclusive_group()
        steps.add_argument("--prepare", action="store_true", help="make it, but do not sign with it yet")
        steps.add_argument("--activate", action="store_true", help="sign with the prepared one from now on")
        parser.add_argument("--json", action="store_true", help="one JSON object on one line")

    def act(self, workspace: Workspace, **options: Any) -> None:
        step = prepare_secret if options["prepare"] else activate_secret if options["activate"] else rotate_secret
        rotation = step(workspace, actor=ACTOR, now=timezone.now())
        if options["json"]:
            self.print_json(rotation.as_json())
            return
        if rotation.text:
            self.stdout.write(rotation.text)
        if rotation.previous_verifies_until is None:
            self.stdout.write(
                f"Give it to every backend; then run: manage.py rotate_secret {workspace.slug} --activate"
            )
        else:
            until = f"{rotation.previous_verifies_until:%Y-%m-%d %H:%M} UTC"
            self.stdout.write(f"{rotation.secret} signs from now on. The previous secret verifies until {until}.")
        if rotation.text:
            self.stdout.write("Copy it into your secret store now: it cannot be shown again.")
