"""Fill tables quickly: drop their indexes first and build them once at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

# These settings are for loading, in this session only. Foreign keys need no check, because the rows satisfy them.
# Commits need not wait for the disk, because after a crash the benchmark starts over.
SET_LOADING_OPTIONS = """
SET session_replication_role = replica; SET synchronous_commit = off; SET work_mem = '512MB';
SET maintenance_work_mem = '512MB'
"""
# Primary keys are not dropped, because upserts need them.
SELECT_UNIQUE_CONSTRAINTS = """
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE conrelid::regclass::text = ANY(%(tables)s) AND contype = 'u'
"""
SELECT_INDEXES = """
SELECT indexname, indexdef FROM pg_indexes
WHERE tablename = ANY(%(tables)s) AND indexname NOT IN (SELECT conname FROM pg_constraint)
"""


@contextmanager
def suspend_indexes(connection: psycopg.Connection[Any], *tables: str) -> Iterator[None]:
    """Drop the indexes of some tables; afterwards, also after an error, restore them and refresh the statistics."""
    connection.execute(SET_LOADING_OPTIONS)
    constraints = connection.execute(SELECT_UNIQUE_CONSTRAINTS, {"tables": list(tables)}).fetchall()
    indexes = connection.execute(SELECT_INDEXES, {"tables": list(tables)}).fetchall()
    for table, name, _ in constraints:
        connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}")
    try:
        yield
    finally:
        for table, name, definition in constraints:
            connection.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")
        for _, definition in indexes:
            connection.execute(definition.replace(" ON ONLY ", " ON "))  # an index of a partitioned table has ONLY
        connection.execute("VACUUM ANALYZE")
