"""Run the migrations that a database lacks, and make the partitions of coming months."""

from __future__ import annotations

from django.core.management import call_command
from django.core.management.commands.migrate import Command as Migrate
from django.db import DatabaseError, connection
from django.db.migrations.exceptions import MigrationSchemaMissing
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from hub.local.database.first_schema import load_first_schema
from hub.local.database.migration_locks import lock_schema
from hub.local.database.partitions import create_partitions
from hub.local.startup_errors import StartupError

INSUFFICIENT_PRIVILEGE = "42501"


def count_pending_migrations() -> int:
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


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
