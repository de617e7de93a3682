"""Drop indexes whose creation was interrupted: `CREATE INDEX CONCURRENTLY IF NOT EXISTS` would keep them so."""

from __future__ import annotations

from django.db import connection, transaction
from psycopg import sql

# What belongs to an index of a partitioned table is no longer interrupted; nor can it be dropped alone.
SELECT_INVALID = """
SELECT index.relname, indrelid::regclass::text
FROM pg_index JOIN pg_class AS index ON index.oid = indexrelid
WHERE NOT indisvalid AND index.relkind = 'i' AND NOT index.relispartition
  AND index.relnamespace = current_schema()::regnamespace
ORDER BY 1
"""


def drop_interrupted_indexes() -> None:
    """Drop every invalid index that nobody is still creating. Neither readers nor writers wait meanwhile."""
    for _, table in _list_invalid_indexes():
        with transaction.atomic(), connection.cursor() as cursor:
            # Wait for whoever creates it: perhaps they complete it.
            cursor.execute(f"LOCK TABLE {table} IN SHARE UPDATE EXCLUSIVE MODE")
    for name, _ in _list_invalid_indexes():
        with connection.cursor() as cursor:
            cursor.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(name)))


def _list_invalid_indexes() -> list[tuple[str, str]]:
    """Return the name of each invalid index, and its table as SQL."""
    with connection.cursor() as cursor:
        cursor.execute(SELECT_INVALID)
        return [(name, table) for name, table in cursor.fetchall()]
