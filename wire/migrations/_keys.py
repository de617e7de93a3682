"""Makes keys begin with the environment or workspace that a row belongs to.

The models keep `id` as their key. PostgreSQL finds rows by it through an index that is not unique.
"""

from __future__ import annotations

from typing import Any

SELECT_REFERENCES = """
SELECT constraint_row.conrelid::regclass::text, conname, attname FROM pg_constraint AS constraint_row
JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
WHERE contype = 'f' AND confrelid = %s::regclass ORDER BY 1, 2
"""


def prefix_key(schema_editor: Any, table: str, owner: str, *, find_by_id: bool = True) -> None:
    """Make (owner, id) the primary key, and the foreign keys that refer to it begin with their own owner."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(SELECT_REFERENCES, [table])
        references = cursor.fetchall()
        for referring_table, name, _ in references:
            cursor.execute(f"ALTER TABLE {referring_table} DROP CONSTRAINT {name}")
        cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {table}_pkey, ADD PRIMARY KEY ({owner}, id)")
        if find_by_id:
            cursor.execute(f"CREATE INDEX {table}_by_id ON {table} (id)")
        for referring_table, name, column in references:
            cursor.execute(
                f"ALTER TABLE {referring_table} ADD CONSTRAINT {name} FOREIGN KEY ({owner}, {column})"
                f" REFERENCES {table} ({owner}, id) DEFERRABLE INITIALLY DEFERRED"
            )


def add_environment(schema_editor: Any, table: str, parent: str, parent_column: str) -> None:
    """Add the environment of the parent's row to each row."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} ADD COLUMN environment_id bigint")
        cursor.execute(
            f"UPDATE {table} AS child SET environment_id = parent.environment_id FROM {parent} AS parent"
            f" WHERE parent.id = child.{parent_column}"
        )
        cursor.execute(f"ALTER TABLE {table} ALTER COLUMN environment_id SET NOT NULL")
        cursor.execute(
            f"ALTER TABLE {table} ADD FOREIGN KEY (environment_id) REFERENCES workspaces_environment (id)"
            " DEFERRABLE INITIALLY DEFERRED"
        )


def promote_unique(schema_editor: Any, table: str, name: str, columns: str) -> None:
    """Make what is unique the primary key instead of the row id."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(
            f"ALTER TABLE {table} DROP CONSTRAINT {name}, DROP CONSTRAINT {table}_pkey,"
            f" ADD CONSTRAINT {name} PRIMARY KEY ({columns})"
        )
        cursor.execute(f"CREATE INDEX {table}_by_id ON {table} (id)")
