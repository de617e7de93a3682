"""Restore a backup into an empty database, with the key that its secrets were encrypted under."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, cast

from django.conf import settings
from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper
from django.utils import timezone

from alerts.setup.alerts import pause_every_alert
from hub.backup.archive import Archive
from hub.backup.client_programs import find_clients, restore_dump
from hub.backup.tables import count_rows, list_tables, refuse_pooler
from hub.local.database import check_server_version, check_written_version, lock_migrations, migrate
from hub.local.startup_errors import StartupError
from hub.private_files import write_private_file


class Restoration(NamedTuple):
    """has_new_key: whether the key of the backup was put into the data directory. paused_alerts: how many were."""

    has_new_key: bool
    paused_alerts: int


def restore_backup(archive: Archive, *, without_key: bool) -> Restoration:
    """Restore everything in one transaction, compare it with the backup, migrate it to this version, pause its alerts.

    without_key: also where no key here fits.
    Raises StartupError, and has then restored nothing unless it says so.
    """
    refuse_pooler(connection)
    check_server_version()
    check_written_version(archive.manifest.migrations, subject="backup")
    major = cast(DatabaseWrapper, connection).pg_version // 10_000
    clients = find_clients(max(major, archive.manifest.pg_dump))
    with lock_migrations():
        refuse_tables()
        has_new_key = not without_key and provide_key(archive)
        restore_dump(clients, archive.path, connection.settings_dict)
        compare_rows(archive.manifest.rows, count_rows(connection))
        migrate()
        paused_alerts = pause_every_alert(actor="restore", now=timezone.now())
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    return Restoration(has_new_key, paused_alerts)


def refuse_tables() -> None:
    if tables := list_tables(connection):
        raise StartupError(
            f"the database is not empty: it has {len(tables)} tables. Restore into an empty one: set HUB_DATA_DIR to "
            f"a new folder, or DATABASE_URL to a new database. Nothing was changed."
        )


def provide_key(archive: Archive) -> bool:
    """Put the key of the backup into the data directory if no key here fits. Return whether that was so.

    Raises StartupError where that cannot be done.
    """
    if archive.fits(settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        return False
    path: Path | None = settings.SECRET_KEY_PATH
    if archive.secret_key is None:
        cure = f"write it into {path}" if path else "set SECRET_KEY to it"
        raise StartupError(
            f"the backup does not hold its SECRET_KEY, and no key here is the same: {cure}, or restore with "
            f"--without-key, and rotate the signing secrets of every workspace. Nothing was restored."
        )
    if path is None:
        raise StartupError(
            f"SECRET_KEY is not the key of this backup. It is in there: write it into a file with "
            f"`unzip -p {archive.path.name} secret.key`, and set SECRET_KEY_FILE. Nothing was restored."
        )
    replace_key(path, archive.secret_key)
    return True


def replace_key(path: Path, secret_key: str) -> None:
    """Write the key, for this process too. The present one, which no row of an empty database needs, stays beside."""
    new_path = path.with_name(f"{path.name}.new")
    new_path.unlink(missing_ok=True)
    write_private_file(new_path, secret_key)
    if path.exists():
        path.replace(path.with_name(f"{path.name}.unused"))
    new_path.replace(path)
    settings.SECRET_KEY = secret_key


def compare_rows(expected: Mapping[str, int], actual: Mapping[str, int]) -> None:
    """Raises StartupError where a table has another number of rows than in the backup."""
    differences = [
        f"{table} has {actual.get(table, 0):,} rows instead of {expected.get(table, 0):,}"
        for table in sorted({*expected, *actual})
        if expected.get(table) != actual.get(table)
    ]
    if differences:
        raise StartupError(f"what was restored is not what was backed up: {'; '.join(differences)}. Do not use it.")
