"""Filling tables quickly: without their indexes, which are made once, at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

# For loading only, in this session: foreign keys are true by how the rows are made, and a crash means starting over.
LOADING = """
SET session_replication_role = replica; SET synchronous_commit = off; SET work_mem = '512MB';
SET maintenance_work_mem = '512MB'
"""
# Primary keys stay: upserts need them.
UNIQUE = """
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE conrelid::regclass::text = ANY(%(tables)s) AND contype = 'u'
"""
INDEXES = """
SELECT indexname, indexdef FROM pg_indexes
WHERE tablename = ANY(%(tables)s) AND indexname NOT IN (SELECT conname FROM pg_constraint)
"""


@contextmanager
def without_indexes(connection: psycopg.Connection[Any], *tables: str) -> Iterator[None]:
    """Whatever happens within, these tables have their indexes again afterwards, and fresh statistics."""
    connection.execute(LOADING)
    unique = connection.execute(UNIQUE, {"tables": list(tables)}).fetchall()
    indexes = connection.execute(INDEXES, {"tables": list(tables)}).fetchall()
    for table, name, _ in unique:
        connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}")
    try:
        yield
    finally:
        for table, name, definition in unique:
            connection.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")
        for _, definition in indexes:
            connection.execute(definition)
        connection.execute("VACUUM ANALYZE")
