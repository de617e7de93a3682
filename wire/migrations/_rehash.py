"""Rewrites plain hashes of a column as keyed ones."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from wire.at_rest.keyed_hash import compute_hash

ROWS_AT_ONCE = 5000


def rehash_column(schema_editor: Any, rows: Iterable[tuple[Any, str, bytes | str]], table: str, column: str) -> None:
    """Replace the hashes in `column` of these rows (id, workspace id, hash), as bytes or as hexadecimal text."""
    remaining = iter(rows)
    while batch := list(islice(remaining, ROWS_AT_ONCE)):
        ids = [pk for pk, _, _ in batch]
        hashes = [_rehash(workspace_id, stored_hash) for _, workspace_id, stored_hash in batch]
        id_type, hash_type = ("bigint" if isinstance(ids[0], int) else "uuid"), _name_type(hashes[0])
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE {table} AS stored SET {column} = rehashed.hash"
                f" FROM unnest(%s::{id_type}[], %s::{hash_type}[]) AS rehashed (id, hash)"
                " WHERE stored.id = rehashed.id",
                [ids, hashes],
            )


def _rehash(workspace_id: str, stored_hash: bytes | str) -> bytes | str:
    if isinstance(stored_hash, str):
        return compute_hash(workspace_id, stored_hash.encode()).hex()
    return compute_hash(workspace_id, bytes(stored_hash))


def _name_type(value: bytes | str) -> str:
    return "text" if isinstance(value, str) else "bytea"
