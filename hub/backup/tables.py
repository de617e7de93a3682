"""Summarise the tables of a database, to compare two databases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import sql

# With these settings, a value has the same text in every version and configuration of PostgreSQL.
PLAIN_FORMATS = """
SET LOCAL datestyle = 'ISO'; SET LOCAL intervalstyle = 'postgres'; SET LOCAL timezone = 'UTC';
SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1
"""
SELECT_SUMMARY = """
SELECT count(*), coalesce(sum(('x' || left(md5(row({columns})::text), 16))::bit(64)::bigint::numeric), 0) FROM {table}
"""
SELECT_COLUMNS = """
SELECT attname FROM pg_attribute
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attname
"""


@dataclass(frozen=True)
class Summary:
    """The number of rows of a table, and a checksum of them that does not depend on their order."""

    rows: int
    checksum: int


def list_tables(connection: BaseDatabaseWrapper) -> list[str]:
    """Return the names of all tables except partitions, sorted."""
    return sorted(connection.introspection.table_names())


def list_columns(connection: BaseDatabaseWrapper, table: str) -> list[str]:
    """Return the names of the columns that are stored rather than computed, sorted."""
    with connection.cursor() as cursor:
        cursor.execute(SELECT_COLUMNS, [connection.ops.quote_name(table)])
        return [name for (name,) in cursor.fetchall()]


def count_rows(connection: BaseDatabaseWrapper) -> Mapping[str, int]:
    """Return how many rows each table has."""
    counts: dict[str, int] = {}
    for table in list_tables(connection):
        with connection.cursor() as cursor:
            cursor.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table)))
            counts[table] = cursor.fetchone()[0]
    return counts


def summarize(connection: BaseDatabaseWrapper, table: str, columns: Sequence[str]) -> Summary:
    """Return the summary of a table, in a transaction with PLAIN_FORMATS."""
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL(SELECT_SUMMARY).format(columns=names, table=sql.Identifier(table)))
        rows, checksum = cursor.fetchone()
    return Summary(rows, int(checksum))
