"""`manage.py create_workspace NAME`: make a workspace with environments; its keys and secret are shown once."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import DatabaseError
from django.utils import timezone

from hub.local.database.prepare import prepare_unused_database
from hub.local.startup_errors import StartupError
from workspaces.create import NewWorkspace, create_workspace
from workspaces.errors import InvalidWorkspace


class Command(BaseCommand):
    help = "Create a workspace. Prints its keys and its signing secret, which are shown only this once."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="what people read; addresses get a slug made of it")
        parser.add_argument(
            "--environment", metavar="NAME", action="append", default=[], help="besides production; may be repeated"
        )
        parser.add_argument("--full-key", action="store_true", help="also a key with every scope, for trials")
        parser.add_argument("--json", action="store_true", help="one JSON object on one line")

    def handle(self, *args: Any, name: str, environment: list[str], **options: Any) -> None:
        was_unused = prepare_unused_database()
        try:
            new_workspace = create_workspace(
                name, environment, actor="command line", now=timezone.now(), with_full_key=options["full_key"]
            )
        except InvalidWorkspace as error:
            raise StartupError(str(error)) from None
        except DatabaseError as error:
            raise StartupError(f"the database refused this or cannot be reached ({type(error).__name__}).") from None
        if was_unused:  # on stderr, because scripts read the output
            database = "that of DATABASE_URL" if settings.DATABASE_URL else f"in {settings.HUB_DATA_DIR} (HUB_DATA_DIR)"
            self.stderr.write(f"affidavit: this is the first workspace of a new database, {database}.")
        self.stdout.write(
            json.dumps(new_workspace.as_json()) if options["json"] else "\n".join(format_lines(new_workspace))
        )


def format_lines(new_workspace: NewWorkspace) -> Iterator[str]:
    facts = new_workspace.as_json()
    yield f"{facts['name']} ({facts['workspaceId']})"
    yield f"  pages             /w/{facts['slug']}/production/overview"
    for environment, audience in facts["audiences"].items():
        yield f"  environment       {environment}, audience {audience}"
    yield f"  report key        {facts['reportKey']}"
    yield f"  platform key      {facts['platformKey']}"
    if new_workspace.full_key:
        yield f"  key of all scopes {new_workspace.full_key}"
    yield f"  publishable key   {facts['publishableKey']}"
    yield f"  signing secret    {facts['signingSecret']}"
    yield "Copy the keys and the secret into your secret store now: they cannot be shown again."
