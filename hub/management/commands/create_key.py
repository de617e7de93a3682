"""`manage.py create_key WORKSPACE --scope report`: create an API key, which is shown once."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from hub.management.workspace_commands import ACTOR, WorkspaceCommand, parse_date_option
from workspaces.keys.create import create_key
from workspaces.models import ApiKey, Workspace


class Command(WorkspaceCommand):
    help = "Create an API key and print it. It is shown only this once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--scope", action="append", default=[], help=f"{', '.join(ApiKey.SCOPES)}; at least one, may be repeated"
        )
        parser.add_argument(
            "--environment", metavar="NAME", action="append", default=[], help="only these; all by default"
        )
        parser.add_argument("--name", default="", help="who uses it; people read this on the page of keys")
        parser.add_argument("--expires", metavar="DATE", help="2027-01-01, or with a time; UTC")
        parser.add_argument("--publishable", action="store_true", help="a key for browsers (pk_…), without scopes")
        parser.add_argument("--json", action="store_true", help="one JSON object on one line")

    def act(self, workspace: Workspace, **options: Any) -> None:
        new_key = create_key(
            workspace,
            options["scope"],
            kind=ApiKey.PUBLISHABLE if options["publishable"] else ApiKey.SECRET,
            name=options["name"],
            environment_names=options["environment"],
            expires_at=None if options["expires"] is None else parse_date_option(options["expires"]),
            actor=ACTOR,
            now=timezone.now(),
        )
        if options["json"]:
            self.print_json(new_key.as_json())
            return
        self.stdout.write(new_key.text)
        environments = [*new_key.environments, *([] if options["environment"] else ["and those added later"])]
        self.stdout.write(f"Scopes: {', '.join(new_key.scopes) or 'none'}. Environments: {', '.join(environments)}.")
        where = " into your page" if options["publishable"] else " into your secret store"
        self.stdout.write(f"Copy it{where} now: it cannot be shown again.")
