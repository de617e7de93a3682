"""How a search finds outcome keys: those that contain a text, whatever its case."""

from __future__ import annotations

from collections.abc import Sequence

from wire.postgresql.replica import get_read_connection
from workspaces.models import Environment


def contains_search(column: str) -> str:
    """Return SQL that is true if %(search)s is empty or part of the key, whatever its case."""
    key, search = f'lower({column} COLLATE "default")', 'lower(%(search)s COLLATE "default")'
    return f"(%(search)s = '' OR position({search} IN {key}) > 0)"


# Keys of all time: only the tallies tell which of them were reported in a period.
SELECT_MATCHING_KEYS = """
SELECT outcome_key FROM outcomes_outcomekey
WHERE environment_id = %(environment)s AND position(lower(%(search)s COLLATE "default") IN lowered) > 0
LIMIT %(limit)s
"""


def find_matching_keys(environment: Environment, search: str, *, limit: int) -> Sequence[str]:
    """Return keys that were ever reported and contain this text, whatever its case: at most `limit`, in no order."""
    with get_read_connection().cursor() as cursor:
        cursor.execute(SELECT_MATCHING_KEYS, {"environment": environment.pk, "search": search, "limit": limit})
        return [key for (key,) in cursor.fetchall()]
