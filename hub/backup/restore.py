"""Restore a backup into an empty database, with the key that its secrets were encrypted under."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, cast

from django.conf import settings
from django.db import connection
from django.db.backends.postgresql.base import DatabaseWrapper

from hub.backup.archive import Archive
from hub.backup.client_programs import build_environment, find_clients, find_connecting_clients, find_first_error
from hub.backup.refuse_pooler import refuse_pooler
from hub.backup.tables import count_rows, list_tables
from hub.local.database.migration_locks import lock_migrations
from hub.local.database.run_migrations import migrate
from hub.local.database.server_requirements import check_server_version
from hub.local.database.written_version import check_written_version
from hub.local.startup_errors import StartupError
from hub.private_files import write_private_file
from hub.unfinished_restore import CREATE_MARK, MARK, is_restore_unfinished, pause_restored_alerts
from wire.format_numbers import count_noun

TOO_NEW = b"SET transaction_timeout = 0;\n"  # pg_restore 17 and later write it; servers before 17 do not know it
CHUNK_BYTES = 1024 * 1024


class Restoration(NamedTuple):
    """The result of a restoration.

    has_new_key: whether the key of the backup was put into the data directory.
    paused_alerts: how many alerts were paused.
    """

    has_new_key: bool
    paused_alerts: int


def restore_backup(archive: Archive, *, without_key: bool) -> Restoration:
    """Restore everything in one transaction, compare it with the backup, migrate it to this version, pause its alerts.

    without_key: restore even if no key of this hub fits.

    Raises StartupError; nothing was restored then, unless the message says otherwise.
    """
    refuse_pooler(connection)
    check_server_version()
    check_written_version(archive.manifest.migrations, subject="backup")
    major = cast(DatabaseWrapper, connection).pg_version // 10_000
    pg_restore = find_clients(max(major, archive.manifest.pg_dump))[0] / "pg_restore"
    psql = find_connecting_clients(major, connection.settings_dict) / "psql"
    with lock_migrations():
        refuse_tables()
        has_new_key = not without_key and provide_key(archive)
        restore_dump(pg_restore, psql, archive.path, connection.settings_dict)
        compare_rows({**archive.manifest.rows, MARK: 0}, count_rows(connection))
        migrate()
        paused_alerts = pause_restored_alerts()
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    return Restoration(has_new_key, paused_alerts)


def refuse_tables() -> None:
    if is_restore_unfinished():
        raise StartupError(
            "an earlier restore was interrupted after it had restored all data: the next start completes it. To "
            "restore again, set HUB_DATA_DIR to a new folder, or DATABASE_URL to a new database."
        )
    if tables := list_tables(connection):
        raise StartupError(
            f"the database is not empty: it has {count_noun(len(tables), 'table')}. Restore into an empty one: set "
            f"HUB_DATA_DIR to a new folder, or DATABASE_URL to a new database. Nothing was changed."
        )


def provide_key(archive: Archive) -> bool:
    """Put the key of the backup into the data directory if no key of this hub fits. Return whether it was put there.

    Raises StartupError if no key fits, and the key of the backup cannot be put there.
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
            f"SECRET_KEY is not the key of this backup. The backup holds its key: write that into a file with "
            f"`unzip -p {archive.path.name} secret.key`, and set SECRET_KEY_FILE. Nothing was restored."
        )
    replace_key(path, archive.secret_key)
    return True


def replace_key(path: Path, secret_key: str) -> None:
    """Write the key, and use it in this process. Keep the former key, which encrypted nothing yet, as `….unused`."""
    new_path = path.with_name(f"{path.name}.new")
    new_path.unlink(missing_ok=True)
    write_private_file(new_path, secret_key)
    if path.exists():
        path.replace(path.with_name(f"{path.name}.unused"))
    new_path.replace(path)
    settings.SECRET_KEY = secret_key


def compare_rows(backup_counts: Mapping[str, int], restored_counts: Mapping[str, int]) -> None:
    """Raise StartupError if a table has another number of rows than in the backup."""
    differences = [
        f"{table} has {count_noun(restored_counts.get(table, 0), 'row')} instead of {backup_counts.get(table, 0):,}"
        for table in sorted({*backup_counts, *restored_counts})
        if backup_counts.get(table) != restored_counts.get(table)
    ]
    if differences:
        raise StartupError(f"what was restored is not what was backed up: {'; '.join(differences)}. Do not use it.")


def restore_dump(pg_restore: Path, psql: Path, path: Path, database: Mapping[str, Any]) -> None:
    """Restore a dump and mark the database, in one transaction, even if the server is older than the programs.

    Raises StartupError.
    """
    pg_restore_command: Sequence[str | Path] = [
        pg_restore,
        "--no-owner",
        "--no-privileges",
        "--file=-",
        path,
    ]
    psql_command: Sequence[str | Path] = [
        psql, "--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1", f"--output={os.devnull}",
    ]  # fmt: skip
    environment = build_environment(database)
    with (
        subprocess.Popen(
            pg_restore_command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        ) as reader,
        subprocess.Popen(psql_command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as writer,
    ):
        if not (reader.stdout and writer.stdin and writer.stderr):
            raise AssertionError("both ends are pipes")
        is_half = False
        with suppress(BrokenPipeError):  # psql ended at an error, and has written it to stderr
            writer.stdin.write(b"BEGIN;\n")
            copy_script(reader.stdout, writer.stdin)
            # Only a whole script is committed: psql takes the end of its input for the end of the script, also when
            # this process or pg_restore was killed.
            is_half = reader.wait() != 0
            if not is_half:
                writer.stdin.write(f"{CREATE_MARK}COMMIT;\n".encode())
        reader.stdout.close()
        with suppress(BrokenPipeError):
            writer.stdin.close()
        if is_half:
            raise StartupError("pg_restore failed: the backup cannot be read. Nothing was restored.")
        errors = writer.stderr.read().decode(errors="replace")
        if writer.wait() != 0:
            raise StartupError(f"the backup was not restored: {find_first_error(errors)}")


def copy_script(source: Any, target: Any) -> None:
    """Copy the SQL of a dump without the one setting in its head that older servers do not know."""
    for line in source:
        if line == TOO_NEW:
            break
        target.write(line)
        if line.startswith((b"CREATE", b"COPY")):
            break
    shutil.copyfileobj(source, target, CHUNK_BYTES)
