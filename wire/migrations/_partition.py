"""Rewrites a table as a partitioned one of the same name, with its rows, indexes and constraints.

Whoever writes meanwhile waits for the migration. The rows are copied before the indexes are built, which is faster.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone

from wire.postgresql.monthly_partitions import Month, iterate_utc_months, list_coming_months

MONTHS_BACK = 24
HASH_PARTITIONS = 8  # few, because each adds to the time that a statement takes to plan

SELECT_COLUMNS = """
SELECT attname FROM pg_attribute
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum
"""
SELECT_CONSTRAINTS = """
SELECT format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s', conrelid::regclass, conname, pg_get_constraintdef(oid))
FROM pg_constraint
WHERE conrelid = %(table)s::regclass AND contype IN ('c', 'f', 'u') AND NOT EXISTS (
  SELECT FROM pg_attribute WHERE attrelid = conrelid AND attnum = ANY(conkey) AND attname = ANY(%(without)s)
) AND conname <> ALL(%(without_constraints)s)
ORDER BY conname
"""
SELECT_INDEXES = """
SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
WHERE indrelid = %(table)s::regclass AND NOT EXISTS (
  SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype <> 'f'
) AND NOT EXISTS (
  SELECT FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY(indkey) AND attname = ANY(%(without)s)
)
ORDER BY indexrelid
"""
# The name of an identity's sequence must stay the same, because a copy of the database sets the sequence by name.
SELECT_SEQUENCE = """
SELECT column_name, pg_get_serial_sequence(%(table)s, column_name) FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = %(table)s AND is_identity = 'YES'
"""


def list_hash_partitions() -> Mapping[str, str]:
    """Return the partitions of a table partitioned by hash: the ends of their names and their bounds."""
    bounds = (f"FOR VALUES WITH (MODULUS {HASH_PARTITIONS}, REMAINDER {number})" for number in range(HASH_PARTITIONS))
    return {f"h{number}": bound for number, bound in enumerate(bounds)}


def partition_by_month(
    schema_editor: Any,
    table: str,
    *,
    time: str,
    owner: str,
    without: tuple[str, ...] = (),
    without_indexes: tuple[str, ...] = (),
) -> None:
    """Partition a log by month of UTC; its key is the owner, the time and `id`, by which rows are found too.

    Rows from before MONTHS_BACK are in the default partition.
    """
    now = timezone.now()
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"SELECT coalesce(min({time}), %(now)s) FROM {table} WHERE {time} > %(first)s", {
            "now": now, "first": now - timedelta(days=31 * MONTHS_BACK),
        })  # fmt: skip
        first = Month.at(min(cursor.fetchone()[0], now))
    months = iterate_utc_months(first, list_coming_months(now)[-1])
    partition_table(
        schema_editor,
        table,
        by=f"RANGE ({time})",
        key=f"{owner}, {time}, id",
        partitions={"default": "DEFAULT", **{month.suffix: month.bounds for month in months}},
        without=without,
        without_indexes=without_indexes,
    )
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"CREATE INDEX {table}_by_id ON {table} (id)")


def partition_table(
    schema_editor: Any,
    table: str,
    *,
    by: str,
    key: str,
    partitions: Mapping[str, str],
    without: tuple[str, ...] = (),
    without_constraints: tuple[str, ...] = (),
    without_indexes: tuple[str, ...] = (),
) -> None:
    """Partition the table. by: the clause after PARTITION BY. key: the columns of the new primary key.

    without, without_constraints: columns and constraints to drop. without_indexes: prefixes of indexes to drop.
    """
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        cursor.execute(SELECT_COLUMNS, [table])
        columns = ", ".join(name for (name,) in cursor.fetchall() if name not in without)
        parameters = {"table": table, "without": list(without), "without_constraints": list(without_constraints)}
        cursor.execute(SELECT_CONSTRAINTS, parameters)
        constraints = [statement for (statement,) in cursor.fetchall()]
        cursor.execute(SELECT_INDEXES, parameters)
        indexes = [statement for name, statement in cursor.fetchall() if not name.startswith(without_indexes or ("-",))]
        cursor.execute(SELECT_SEQUENCE, {"table": table})
        identity, sequence = cursor.fetchone() or (None, None)
        cursor.execute(
            f"CREATE TABLE {table}_new (LIKE {table} INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING IDENTITY)"
            f" PARTITION BY {by}"
        )
        for name in without:
            cursor.execute(f"ALTER TABLE {table}_new DROP COLUMN {name}")
        for suffix, bounds in partitions.items():
            cursor.execute(f"CREATE TABLE {table}_{suffix} PARTITION OF {table}_new {bounds}")
        cursor.execute(f"INSERT INTO {table}_new ({columns}) SELECT {columns} FROM {table}")
        if identity and identity not in without:
            cursor.execute(f"SELECT last_value, is_called FROM {sequence}")
            last_value, is_called = cursor.fetchone()
            cursor.execute("SELECT pg_get_serial_sequence(%s, %s)", [f"{table}_new", identity])
            (new_sequence,) = cursor.fetchone()
            cursor.execute("SELECT setval(%s, %s, %s)", [new_sequence, last_value, is_called])
        cursor.execute(f"DROP TABLE {table}")
        cursor.execute(f"ALTER TABLE {table}_new RENAME TO {table}")
        if identity and identity not in without:
            cursor.execute(f"ALTER SEQUENCE {new_sequence} RENAME TO {str(sequence).rpartition('.')[2]}")
        cursor.execute(f"ALTER TABLE {table} ADD PRIMARY KEY ({key})")
        for statement in [*indexes, *constraints]:
            cursor.execute(statement)
        cursor.execute(f"ANALYZE {table}")
