"""What the tables of a database hold, to compare two of them."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import sql

from hub.local.startup_errors import StartupError

SELECT_TABLES = """
SELECT relname FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
ORDER BY relname
"""


def list_tables(connection: BaseDatabaseWrapper) -> list[str]:
    """Return the names of all tables, sorted; of a partitioned table only its own name."""
    with connection.cursor() as cursor:
        cursor.execute(SELECT_TABLES)
        return [name for (name,) in cursor.fetchall()]


def count_rows(connection: BaseDatabaseWrapper) -> Mapping[str, int]:
    """Return how many rows each table has."""
    counts: dict[str, int] = {}
    for table in list_tables(connection):
        with connection.cursor() as cursor:
            cursor.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table)))
            counts[table] = cursor.fetchone()[0]
    return counts


def refuse_pooler(connection: BaseDatabaseWrapper) -> None:
    """Raises StartupError where a pooler is in between: what pg_dump and COPY set would stay on its connections."""
    connection.ensure_connection()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        if cursor.fetchone()[0] != connection.connection.info.backend_pid:
            raise StartupError(
                "DATABASE_URL: leads through a connection pooler. For this command, name the PostgreSQL server itself."
            )
