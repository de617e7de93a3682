"""`manage.py move_database`: copy the data of the embedded PostgreSQL into the database of DATABASE_URL."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import DatabaseError, OperationalError
from django.utils import timezone

from hub.backup.move import move_database
from hub.local.data_dir import lock_data_dir
from hub.local.error_lines import describe_database_error
from hub.local.postgresql.server import Server
from hub.local.startup_errors import StartupError


class Command(BaseCommand):
    help = "Copy all data of the embedded PostgreSQL into the empty database of DATABASE_URL, and compare them."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DATABASE_URL:
            raise StartupError("DATABASE_URL: not set. Set it to the empty database to move to, and SECRET_KEY_FILE.")
        server = Server(settings.HUB_DATA_DIR)
        if not server.cluster.exists():
            raise StartupError(f"there is nothing to move: {server.cluster} does not exist. Set HUB_DATA_DIR.")
        with lock_data_dir(server.data_dir):
            server.start()
            try:
                summaries = move_database(server, now=timezone.now())
            except DatabaseError as error:
                raise StartupError(f"{describe_failure(error)}. Nothing was moved.") from None
            finally:
                server.stop()
        width = max(map(len, summaries))
        self.stdout.write(f"{'table':<{width}}  {'rows':>12}  the same in both")
        for table, summary in summaries.items():
            self.stdout.write(f"{table:<{width}}  {summary.rows:>12,}  yes")
        self.stdout.write(f"Moved {sum(summary.rows for summary in summaries.values()):,} rows.")
        self.stdout.write(
            f"Start the hub with the same DATABASE_URL and SECRET_KEY. {server.cluster} is no longer used."
        )


def describe_failure(error: DatabaseError) -> str:
    """Say what the database refused, without the details, which may repeat values."""
    diagnosis = getattr(error.__cause__, "diag", None)
    if message := diagnosis and diagnosis.message_primary:
        return str(message)
    if isinstance(error, OperationalError):
        return describe_database_error(error).removesuffix(".")
    return f"the database failed ({type(error).__name__})"
