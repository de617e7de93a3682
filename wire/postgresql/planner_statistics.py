"""Statistics of partitioned tables as a whole, for the planner. Autovacuum gathers only those of partitions."""

from __future__ import annotations

from django.db import connection
from psycopg import sql

SELECT_PARTITIONED_TABLES = """
SELECT relname FROM pg_class WHERE relkind = 'p' AND relnamespace = current_schema()::regnamespace ORDER BY relname
"""


def analyze_partitioned_tables() -> None:
    with connection.cursor() as cursor:
        cursor.execute(SELECT_PARTITIONED_TABLES)
        for (name,) in cursor.fetchall():
            cursor.execute(sql.SQL("ANALYZE {}").format(sql.Identifier(name)))
