"""Prepare the database for this version of the hub: check versions, then migrate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import cast

from django.conf import settings
from django.core.management import call_command
from django.core.management.commands.migrate import Command as Migrate
from django.db import DatabaseError, NotSupportedError, connection
from django.db.backends.postgresql.base import DatabaseWrapper
from django.db.migrations.exceptions import MigrationSchemaMissing
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from psycopg import sql

from hub.local.first_schema import load_first_schema
from hub.local.partitions import create_partitions
from hub.local.postgresql.server import Server
from hub.local.startup_errors import TAKES_NO_CHANGES, StartupError, UnusedDatabase
from hub.local.web_role import grant_web_role
from hub.unfinished_restore import pause_restored_alerts

OLDEST_POSTGRES = 15
INSUFFICIENT_PRIVILEGE = "42501"
MIGRATION_TABLES = {"auth_permission", "django_content_type", "django_migrations"}


def prepare_database(*, web_role: str = "") -> bool:
    """Create or upgrade all tables, before a start. Return whether the database was unused before.

    web_role: the role of the web processes, if they have one of their own; it gets its rights again.

    Raises StartupError if the versions do not fit.
    """
    check_fitness()
    with lock_migrations():
        was_unused = is_unused()
        migrate()
        pause_restored_alerts()
        if web_role:
            grant_web_role(web_role)
    return was_unused


def prepare_unused_database() -> bool:
    """Create all tables of an unused database, for a command that may run before the first start or beside a hub.

    Return whether it was unused. Raises StartupError if the versions do not fit, or if the next start of the hub has to
    upgrade it.
    """
    check_fitness()
    with lock_migrations():
        was_unused = is_unused()
        if was_unused:
            migrate()
        elif count_pending_migrations():
            raise StartupError("an older version of Affidavit wrote the database. Start this one once; it migrates.")
    return was_unused


def is_unused() -> bool:
    """Return whether nobody has used this database yet, not even to migrate it."""
    return not MigrationRecorder(connection).has_table()


def refuse_unused_database() -> None:
    """Raise UnusedDatabase if nobody has used this database yet: it is probably not that of the hub."""
    if is_unused():
        raise UnusedDatabase


def count_pending_migrations() -> int:
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def check_fitness() -> None:
    check_server_version()
    check_written_version()
    refuse_forgotten_data()


def refuse_forgotten_data() -> None:
    """Refuse an empty database if the data directory has an embedded one whose data were not moved."""
    cluster = Server(settings.HUB_DATA_DIR).cluster
    if settings.DATABASE_URL and not settings.HUB_START_EMPTY and cluster.exists() and is_empty():
        raise StartupError(
            f"DATABASE_URL: the database is empty, but {cluster} holds data. Move them with `manage.py move_database`, "
            "or set HUB_START_EMPTY=true to begin without them."
        )


def is_empty() -> bool:
    """Return whether the database has no rows other than those that migrations write."""
    tables = {*connection.introspection.table_names()} - MIGRATION_TABLES
    has_rows = [sql.SQL("EXISTS (SELECT FROM {})").format(sql.Identifier(table)) for table in sorted(tables)]
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("SELECT {}").format(sql.SQL(" OR ").join([sql.SQL("false"), *has_rows])))
        return not cursor.fetchone()[0]


def check_server_version() -> None:
    """Raise StartupError if the server is too old, or the database takes no changes or cannot hold every character."""
    try:
        major = cast(DatabaseWrapper, connection).pg_version // 10_000
    except NotSupportedError:  # Django itself refuses still older servers
        major = 0
    if major < OLDEST_POSTGRES:
        raise StartupError(f"DATABASE_URL: the server is older than PostgreSQL {OLDEST_POSTGRES}. Name a newer one.")
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_encoding'), current_setting('transaction_read_only')")
        encoding, read_only = cursor.fetchone()
        if read_only == "on":
            raise StartupError(TAKES_NO_CHANGES)
        if encoding != "UTF8":
            raise StartupError("DATABASE_URL: the database's encoding is not UTF8. Create it with ENCODING 'UTF8'.")


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


def migrate() -> None:
    try:
        load_first_schema()
        if count_pending_migrations():
            with lock_schema():
                # Django's command: ours would repeat the checks
                call_command(Migrate(), verbosity=0, interactive=False)
        create_partitions(now=timezone.now())
    except DatabaseError as error:
        may_create = getattr(error.__cause__, "sqlstate", None) != INSUFFICIENT_PRIVILEGE
        if may_create and not isinstance(error, MigrationSchemaMissing):
            raise
        raise StartupError("DATABASE_URL: this user may not make tables. Give it a database that it owns.") from None


@contextmanager
def lock_migrations() -> Iterator[None]:
    """Let only one start or command migrate at a time, also across hosts; the second finds all tables made."""
    with _hold_lock("pg_advisory_xact_lock", "hub.database"):
        yield


@contextmanager
def lock_schema() -> Iterator[None]:
    """Wait until no backup is being written, and let none begin before the end of the block."""
    with _hold_lock("pg_advisory_xact_lock", "hub.schema"):
        yield


@contextmanager
def hold_back_migrations() -> Iterator[None]:
    """Let no migration begin before the end of the block. Starts and commands that migrate nothing do not wait."""
    with _hold_lock("pg_advisory_xact_lock_shared", "hub.schema"):
        yield


@contextmanager
def _hold_lock(function: str, name: str) -> Iterator[None]:
    lock_connection = connection.copy()
    try:
        lock_connection.set_autocommit(False)  # the lock is the transaction's, because poolers lose a session's lock
        with lock_connection.cursor() as cursor:
            cursor.execute(f"SELECT {function}(hashtextextended(%s, 0))", [name])
        yield
    finally:
        lock_connection.close()
