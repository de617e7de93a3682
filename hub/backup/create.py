"""Write a backup: the whole database at one moment, how many rows each table had then, and the key."""

from __future__ import annotations

import fcntl
import glob
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from django.conf import settings
from django.db import connection, transaction
from django.db.backends.postgresql.base import DatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder

from affidavit import __version__
from hub.backup.archive import Manifest, complete_archive, hash_dump, seal
from hub.backup.client_programs import build_environment, find_connecting_clients, find_first_error, read_major
from hub.backup.refuse_pooler import refuse_pooler
from hub.backup.tables import count_rows
from hub.local.database.migration_locks import hold_back_migrations
from hub.local.database.server_requirements import check_server_version
from hub.local.database.unused_database import is_unused
from hub.local.startup_errors import StartupError


def write_backup(path: Path, *, with_key: bool, now: datetime) -> Manifest:
    """Write a backup of mode 0600. Once complete, it replaces a file of that name. The hub may run meanwhile.

    with_key: whether SECRET_KEY goes into the backup.

    Raises StartupError.
    """
    refuse_pooler(connection)
    check_server_version()
    if is_unused():
        raise StartupError("there is nothing to back up: the database is empty.")
    major = cast(DatabaseWrapper, connection).pg_version // 10_000
    clients = find_connecting_clients(major, connection.settings_dict)
    # Let nobody migrate meanwhile: a migration would wait for the dump, and everybody else for the migration.
    with hold_back_migrations(), new_file_beside(path) as new_path:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SELECT pg_export_snapshot()")
            dump_database(clients, connection.settings_dict, new_path, snapshot=cursor.fetchone()[0])
            rows = count_rows(connection)
            migrations = sorted(MigrationRecorder(connection).applied_migrations())
        size = new_path.stat().st_size
        manifest = Manifest(
            affidavit=__version__,
            made_at=now.isoformat(),
            pg_dump=read_major(clients),
            migrations=migrations,
            rows=rows,
            dump_bytes=size,
            dump_sha256=hash_dump(new_path, size),
            sealed=seal(settings.SECRET_KEY),
        )
        complete_archive(new_path, manifest, settings.SECRET_KEY if with_key else None)
    return manifest


def dump_database(folder: Path, database: Mapping[str, Any], path: Path, *, snapshot: str) -> None:
    """Write a dump in pg_dump's custom format into a file that exists; raises StartupError."""
    command: Sequence[str | Path] = [
        folder / "pg_dump", "--format=custom", "--no-owner", "--no-privileges", "--no-password",
        f"--snapshot={snapshot}", f"--file={path}",
    ]  # fmt: skip
    process = subprocess.run(command, env=build_environment(database), capture_output=True, text=True)
    if process.returncode != 0:
        raise StartupError(f"pg_dump failed: {find_first_error(process.stderr)}")


@contextmanager
def new_file_beside(path: Path) -> Iterator[Path]:
    """Yield an empty file of mode 0600 in the folder of `path`. If the block succeeds, rename the file to `path`.

    Before, remove the files of earlier backups that were killed. Raises StartupError if a file cannot be written there.
    """
    folder, prefix = path.absolute().parent, f".{path.name}.unfinished."
    try:
        remove_abandoned_files(folder, prefix)
        descriptor, name = tempfile.mkstemp(dir=folder, prefix=prefix)
        new_path = Path(name)
        try:
            lock_file(descriptor)
            yield new_path
            synchronize(new_path)
            new_path.replace(path)
            synchronize(folder)
        finally:
            new_path.unlink(missing_ok=True)
            os.close(descriptor)
    except OSError as error:
        cure = "Name a file in a folder that exists, can be written and has space."
        raise StartupError(f"{path}: cannot be written ({error.strerror or error}). {cure}") from None


def remove_abandoned_files(folder: Path, prefix: str) -> None:
    """Remove the files with this prefix that no process has locked."""
    for path in folder.glob(f"{glob.escape(prefix)}*"):
        with suppress(OSError), path.open() as file:  # it may be that of another user
            if lock_file(file.fileno()):
                path.unlink()


def lock_file(descriptor: int) -> bool:
    """Lock a file until it is closed or this process ends. Return whether that worked."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def synchronize(path: Path) -> None:
    """Return when the file or folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
