"""Move the data of the embedded server to another PostgreSQL: copy each table, compare it, all or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime

from cryptography.fernet import InvalidToken
from django.db import connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from psycopg import sql

from hub.backup.refuse_pooler import refuse_pooler
from hub.backup.tables import PLAIN_FORMATS, Summary, list_columns, list_tables, summarize
from hub.local.database.forgotten_data import is_empty
from hub.local.database.migration_locks import lock_migrations
from hub.local.database.monthly_logs import create_partitions_of
from hub.local.database.run_migrations import migrate
from hub.local.database.server_requirements import check_server_version
from hub.local.database.written_version import check_written_version
from hub.local.postgresql.server import Server
from hub.local.startup_errors import StartupError
from hub.private_files import write_private_file
from hub.unfinished_restore import FAULT, is_restore_unfinished
from wire.at_rest.encryption import decrypt
from workspaces.models import SigningSecret

SOURCE = "embedded"
SELECT_SEQUENCES = """
SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = current_schema() AND last_value IS NOT NULL
"""
SET_SEQUENCE = "SELECT setval(format('%%I.%%I', current_schema(), %s::text)::regclass, %s)"


def move_database(server: Server, *, now: datetime) -> Mapping[str, Summary]:
    """Copy everything from the embedded server, which must run, to the database of the settings.

    Return the summary of each table, the same on both sides. Raises StartupError; nothing has been moved then.
    """
    check_target()
    with connect_source(server) as source:
        check_source(source)
        with lock_migrations():
            if not is_empty():
                raise StartupError("DATABASE_URL: the database is not empty. Name a new one. Nothing was moved.")
            migrate()
            create_partitions_of(source)
            with transaction.atomic(), connection.cursor() as cursor:
                summaries = copy_tables(source, connection)
                cursor.execute("ANALYZE")  # before the commit: after it, the move must be noted at once
    target = connection.settings_dict
    address = f"{target['HOST']}:{target['PORT'] or 5432}/{target['NAME']}"
    server.moved_file.unlink(missing_ok=True)
    write_private_file(server.moved_file, f"{address} at {now:%Y-%m-%dT%H:%MZ}")
    return summaries


def check_target() -> None:
    refuse_pooler(connection)
    check_server_version()
    check_written_version()


@contextmanager
def connect_source(server: Server) -> Iterator[BaseDatabaseWrapper]:
    """Yield a connection to the embedded server, in a read-only transaction that sees one snapshot."""
    source = connection.copy(alias=SOURCE)
    source.settings_dict.update({"PORT": "", **server.connection_settings()})
    connections[SOURCE] = source  # Django reads the migrations of a connection by its alias
    try:
        source.set_autocommit(False)
        with source.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield source
    finally:
        source.close()
        del connections[SOURCE]


def check_source(source: BaseDatabaseWrapper) -> None:
    """Raise StartupError if the data to move are missing, half restored, or of another version or SECRET_KEY."""
    recorder = MigrationRecorder(source)
    if not recorder.has_table():
        raise StartupError("there is nothing to move: the embedded database is empty.")
    check_written_version(recorder.applied_migrations())
    executor = MigrationExecutor(source)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise StartupError(
            "an older version of Affidavit wrote the data to move. Start without DATABASE_URL once: that migrates them."
        )
    with source.cursor() as cursor:
        cursor.execute(sql.SQL("SELECT ciphertext FROM {}").format(sql.Identifier(SigningSecret._meta.db_table)))
        try:
            for (ciphertext,) in cursor.fetchall():
                decrypt(bytes(ciphertext))
        except InvalidToken:
            raise StartupError(
                "SECRET_KEY is not the key of the data to move. Set SECRET_KEY_FILE to the file secret.key beside them."
            ) from None
    if is_restore_unfinished(source):
        raise StartupError(f"{FAULT}. Start without DATABASE_URL once: that completes it.")


def copy_tables(source: BaseDatabaseWrapper, target: BaseDatabaseWrapper) -> Mapping[str, Summary]:
    """Replace the rows that migrations wrote by those of the source, and compare every table.

    Both connections are in a transaction.

    The foreign keys are checked at the commit, so that tables may come in any order. Raises StartupError.
    """
    tables = list_tables(source)
    for database in (source, target):
        with database.cursor() as cursor:
            cursor.execute(PLAIN_FORMATS)
    with target.cursor() as cursor:
        cursor.execute(sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(map(sql.Identifier, tables))))
    summaries = {table: copy_table(source, target, table) for table in tables}
    with source.cursor() as source_cursor, target.cursor() as cursor:
        source_cursor.execute(SELECT_SEQUENCES)
        for name, last_value in source_cursor.fetchall():
            cursor.execute(SET_SEQUENCE, [name, last_value])
    return summaries


def copy_table(source: BaseDatabaseWrapper, target: BaseDatabaseWrapper, table: str) -> Summary:
    columns = list_columns(source, table)
    names = {"table": sql.Identifier(table), "columns": sql.SQL(", ").join(map(sql.Identifier, columns))}
    copy_out = sql.SQL("COPY (SELECT {columns} FROM {table}) TO STDOUT").format(**names)
    copy_in = sql.SQL("COPY {table} ({columns}) FROM STDIN").format(**names)
    with (
        target.wrap_database_errors,
        source.connection.cursor() as source_cursor,
        target.connection.cursor() as target_cursor,
        source_cursor.copy(copy_out) as source_rows,
        target_cursor.copy(copy_in) as target_rows,
    ):
        for data in source_rows:
            target_rows.write(data)
    summary = summarize(source, table, columns)
    if summary != summarize(target, table, columns):
        raise StartupError(f"the copy of {table} is not the same as the original. Nothing was moved.")
    return summary
