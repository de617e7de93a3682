"""Run the migrations that a database lacks, and make the partitions of coming months."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from django.core.management import call_command
from django.core.management.commands.migrate import Command as Migrate
from django.db import DatabaseError, connection
from django.db.migrations.exceptions import MigrationSchemaMissing
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from hub.local.database.first_schema import load_first_schema
from hub.local.database.interrupted_indexes import drop_interrupted_indexes
from hub.local.database.migration_locks import lock_schema
from hub.local.database.monthly_logs import create_partitions
from hub.local.database.short_lock_waits import retry_while_locked
from hub.local.startup_errors import StartupError
from wire.postgresql.sqlstates import INSUFFICIENT_PRIVILEGE, read_sqlstate


def count_pending_migrations() -> int:
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def migrate() -> None:
    """Make or upgrade all tables; raises StartupError if the user of the database may not."""
    with surround_migrations() as count:
        if count:
            # Django's command: ours would repeat the checks
            retry_while_locked(lambda: call_command(Migrate(), verbosity=0, interactive=False))


@contextmanager
def surround_migrations() -> Iterator[int]:
    """Do what belongs before and after the block, in which Django's command migrates all apps.

    Yield the number of pending migrations. If there are any, no backup is written before the end of the block.
    Raises StartupError if the user of the database may not make tables.
    """
    try:
        load_first_schema()
        count = count_pending_migrations()
        with lock_schema() if count else nullcontext():
            if count:
                drop_interrupted_indexes()
            yield count
        create_partitions(now=timezone.now())
    except DatabaseError as error:
        may_create = read_sqlstate(error) != INSUFFICIENT_PRIVILEGE
        if may_create and not isinstance(error, MigrationSchemaMissing):
            raise
        raise StartupError("DATABASE_URL: this user may not make tables. Give it a database that it owns.") from None
