"""`manage.py restore FILE`: restore a backup into an empty database."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from hub.backup.archive import read_archive
from hub.backup.restore import restore_backup


class Command(BaseCommand):
    help = "Restore a file of `manage.py backup` into an empty database, compare it and migrate it. Stop the hub first."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path)
        parser.add_argument(
            "--without-key",
            action="store_true",
            help="restore it even if the key of its secrets is lost; nobody can then read the secrets",
        )

    def handle(self, *args: Any, file: Path, without_key: bool, **options: Any) -> None:
        archive = read_archive(file)
        restoration = restore_backup(archive, without_key=without_key)
        rows = archive.manifest.rows
        self.stdout.write(f"Restored {len(rows)} tables with {sum(rows.values()):,} rows, as many as in {file}.")
        if restoration.has_new_key:
            self.stdout.write(f"{settings.SECRET_KEY_PATH} holds the key of the backup now.")
        if restoration.paused_alerts:
            self.stdout.write(
                f"All its alerts are paused ({restoration.paused_alerts}), so that the original and this copy do not "
                "both send them. If this hub replaces the original, resume them on the page of alerts."
            )
