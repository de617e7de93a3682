"""Refuse a connection pooler, for commands that need the PostgreSQL server itself."""

from __future__ import annotations

from django.db.backends.base.base import BaseDatabaseWrapper

from hub.local.startup_errors import StartupError


def refuse_pooler(connection: BaseDatabaseWrapper) -> None:
    """Raise StartupError behind a pooler: settings of pg_dump and COPY would stay on the pooler's connections."""
    connection.ensure_connection()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        if cursor.fetchone()[0] != connection.connection.info.backend_pid:
            raise StartupError(
                "DATABASE_URL: leads through a connection pooler. For this command, name the PostgreSQL server itself."
            )
