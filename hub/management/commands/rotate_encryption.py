"""`manage.py rotate_encryption`: re-encrypt under SECRET_KEY everything that is stored encrypted."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from hub.encrypted_columns import ENCRYPTED_COLUMNS
from hub.local.database.prepare import prepare_unused_database
from hub.local.startup_errors import StartupError
from hub.management.workspace_commands import ACTOR, one_line_errors
from wire.at_rest.reencryption import reencrypt_column
from wire.format_numbers import count_noun
from workspaces.audit.record import record_audit


class Command(BaseCommand):
    help = "Encrypt again under SECRET_KEY what SECRET_KEY_FALLBACKS still decrypts. The hub may run meanwhile."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        prepare_unused_database()
        with one_line_errors():
            results = {name: reencrypt_column(column) for name, column in ENCRYPTED_COLUMNS.items()}
            changes = {name: result.changed_count for name, result in results.items()}
            record_audit(None, "encryption rotated", {"rows": changes}, actor=ACTOR, now=timezone.now())
        for name, row_count in changes.items():
            self.stdout.write(f"{name}: {count_noun(row_count, 'row')} encrypted again")
        unreadable = {name: result.unreadable_count for name, result in results.items() if result.unreadable_count}
        if unreadable:
            counts = ", ".join(f"{name} {count:,}" for name, count in unreadable.items())
            raise StartupError(f"no key fits some rows: {counts}. Add their SECRET_KEY to SECRET_KEY_FALLBACKS.")
        self.stdout.write("The old key can leave SECRET_KEY_FALLBACKS a day after all processes have the new one.")
