"""Add refused requests to the tallies of their keys' workspaces, in one statement."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import connection

from workspaces.refusals.counter import Refusal, RefusalSum

# The lock waits for the deletion of a workspace to finish, so that rows of a deleted workspace are left out. The order
# prevents deadlocks of processes that write the same rows.
ADD_REFUSALS = """
WITH owned AS (
  SELECT key.workspace_id, refusal.*
    FROM unnest(
           %s::bigint[], %s::text[], %s::text[], %s::timestamptz[], %s::bigint[], %s::timestamptz[], %s::timestamptz[]
         ) AS refusal (api_key_id, endpoint, code, starts_at, count, first_at, last_at)
    JOIN workspaces_apikey AS key ON key.id = refusal.api_key_id
    JOIN workspaces_workspace AS workspace ON workspace.id = key.workspace_id AND workspace.removed_at IS NULL
     FOR KEY SHARE OF workspace
)
INSERT INTO workspaces_refusaltally AS tally
       (workspace_id, api_key_id, endpoint, code, starts_at, count, first_at, last_at)
SELECT workspace_id, api_key_id, endpoint, code, starts_at, count, first_at, last_at
  FROM owned ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (workspace_id, api_key_id, endpoint, code, starts_at)
    DO UPDATE SET count = tally.count + excluded.count,
       first_at = least(tally.first_at, excluded.first_at), last_at = greatest(tally.last_at, excluded.last_at)
"""


def record_refusals(sums: Mapping[Refusal, RefusalSum]) -> None:
    """Add sums to the tallies. What concerns a deleted workspace or an unknown key is left out."""
    rows = [(*refusal, total.count, total.first_at, total.last_at) for refusal, total in sums.items()]
    if rows:
        with connection.cursor() as cursor:
            cursor.execute(ADD_REFUSALS, [list(column) for column in zip(*rows, strict=True)])
