"""`manage.py revoke_key PREFIX`: refuse an API key from the next request on."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from hub.local.database.prepare import prepare_unused_database
from hub.management.workspace_commands import ACTOR, one_line_errors
from workspaces.keys.prefix import find_named_key
from workspaces.keys.revoke import revoke_key


class Command(BaseCommand):
    help = "Revoke an API key of any workspace: the next request with it is answered 401."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "prefix", metavar="PREFIX", help="the first characters of the key (its keyId), or all of it"
        )

    def handle(self, *args: Any, prefix: str, **options: Any) -> None:
        prepare_unused_database()
        with one_line_errors():
            key = find_named_key(prefix)
            is_revoked_now = revoke_key(key, actor=ACTOR, now=timezone.now())
        state = "is revoked" if is_revoked_now else "was revoked before"
        self.stdout.write(f"{key} ({key.name or 'without a name'}) of {key.workspace.slug} {state}.")
