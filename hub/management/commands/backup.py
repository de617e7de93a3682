"""`manage.py backup`: write everything that is stored into one file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils import timezone

from hub.backup.create import write_backup
from hub.local.startup_errors import StartupError


class Command(BaseCommand):
    help = "Write the database, and the key that its secrets are encrypted under, into a file. The hub may run."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="where to write it; must not exist")
        parser.add_argument("--force", action="store_true", help="replace the file if it exists")
        parser.add_argument("--without-key", action="store_true", help="leave the key out, to keep it elsewhere")

    def handle(self, *args: Any, file: Path, without_key: bool, force: bool, **options: Any) -> None:
        if file.exists() and not file.is_file():
            raise StartupError(f"{file} is no file. Name a new file.")
        if file.exists() and not force:
            raise StartupError(f"{file} exists. Choose another name, or replace it with --force.")
        with_key = settings.SECRET_KEY_PATH is not None and not without_key
        manifest = write_backup(file, with_key=with_key, now=timezone.now())
        self.stdout.write(f"{file}: {len(manifest.rows)} tables, {sum(manifest.rows.values()):,} rows.")
        if with_key:
            self.stdout.write("It holds the key of its secrets, too: keep it where nobody else can read it.")
        else:
            source = settings.SECRET_KEY_PATH or "the variable SECRET_KEY or SECRET_KEY_FILE"
            self.stdout.write(f"It does not hold the key of its secrets: keep a copy of {source}, too.")
        if settings.SECRET_KEY_FALLBACKS:
            cure = "Keep them, too, or run `manage.py rotate_encryption` and back up again."
            self.stdout.write(f"It does not hold SECRET_KEY_FALLBACKS. {cure}")
