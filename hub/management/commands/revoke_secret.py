"""`manage.py revoke_secret PREFIX`: from now on, the hub rejects intents that were signed with this secret."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from hub.local.database.prepare import prepare_unused_database
from hub.management.workspace_commands import ACTOR, one_line_errors
from workspaces.secrets.prefix import find_secret
from workspaces.secrets.revoke import revoke_secret


class Command(BaseCommand):
    help = "Revoke a signing secret that no longer signs: the hub stops verifying with it."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("prefix", metavar="PREFIX", help="its first characters, gas_ and up to four more")

    def handle(self, *args: Any, prefix: str, **options: Any) -> None:
        prepare_unused_database()
        with one_line_errors():
            secret = find_secret(prefix)
            is_revoked_now = revoke_secret(secret, actor=ACTOR, now=timezone.now())
        state = "is revoked" if is_revoked_now else "was revoked before"
        self.stdout.write(f"{secret} of {secret.workspace.slug} {state}.")
