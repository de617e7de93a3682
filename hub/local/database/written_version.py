"""Refuse a database or a backup that a newer version of Affidavit wrote."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from hub.local.startup_errors import StartupError


def check_written_version(migrations: Iterable[tuple[str, str]] | None = None, *, subject: str = "database") -> None:
    """Refuse migrations of our apps that this version does not know. By default, check those of the database."""
    loader = MigrationLoader(connection, load=False)
    loader.load_disk()  # without the graph of all migrations, which takes longer
    ours = {app for app, _ in loader.disk_migrations}
    keys = MigrationRecorder(connection).applied_migrations() if migrations is None else migrations
    unknown = [key for key in keys if key[0] in ours and key not in loader.disk_migrations]
    if unknown:
        app, name = sorted(unknown)[0]
        raise StartupError(
            f"the {subject} was written by a newer version of Affidavit (it has {app}.{name}). "
            "Install that version, or restore a backup made by this one."
        )
