"""Token buckets in the database: one statement per lease, in an unlogged table."""

from __future__ import annotations

from datetime import datetime, timedelta

from wire.postgresql.prepared_statements import open_prepared_cursor
from workspaces.limits.leases import Grant, Limit
from workspaces.models import TokenBucket

# The same as `grant_tokens`, in SQL. A row that another process inserts at the same moment is found by the second try.
GRANT_TOKENS = """
WITH present AS (
    SELECT name,
        LEAST(
            %(capacity)s::float8,
            tokens + %(rate)s::float8 * GREATEST(0, EXTRACT(EPOCH FROM statement_timestamp() - refilled_at)::float8)
        ) AS level,
        CASE WHEN refilled_at > statement_timestamp() + interval '1 second' THEN statement_timestamp()
            ELSE GREATEST(refilled_at, statement_timestamp()) END AS refilled_at
    FROM workspaces_tokenbucket WHERE name = %(name)s::varchar FOR UPDATE
), changed AS (
    UPDATE workspaces_tokenbucket AS bucket
    SET tokens = present.level - GREATEST(0, LEAST(%(wanted)s::int, FLOOR(present.level))),
        refilled_at = present.refilled_at
    FROM present WHERE bucket.name = present.name
    RETURNING GREATEST(0, LEAST(%(wanted)s::int, FLOOR(present.level)))::int AS granted, bucket.tokens AS remaining
), created AS (
    INSERT INTO workspaces_tokenbucket (name, tokens, refilled_at)
    SELECT %(name)s::varchar, %(capacity)s::float8 - LEAST(%(wanted)s::int, FLOOR(%(capacity)s::float8)),
        statement_timestamp()
    WHERE NOT EXISTS (SELECT FROM present)
    ON CONFLICT (name) DO NOTHING
    RETURNING LEAST(%(wanted)s::int, FLOOR(%(capacity)s::float8))::int AS granted, tokens AS remaining
)
SELECT granted, remaining FROM changed UNION ALL SELECT granted, remaining FROM created
"""
TRIES = 3
IDLE = timedelta(minutes=1)  # after this time a bucket is full, and its row is not needed
ROWS_PRUNED_AT_ONCE = 10_000


class DatabaseBuckets:
    """The buckets of the hub's own database."""

    def grant(self, bucket_name: str, limit: Limit, max_tokens: int) -> Grant:
        """Take at most `max_tokens` tokens out of the bucket, and commit that at once unless a transaction is open."""
        members: dict[str, str | float] = {
            "name": bucket_name,
            "wanted": max_tokens,
            "rate": limit.rate,
            "capacity": limit.capacity,
        }
        for _ in range(TRIES):
            with open_prepared_cursor() as cursor:
                cursor.execute(GRANT_TOKENS, members)
                if row := cursor.fetchone():
                    return Grant(*row)
        return Grant(0, 0.0)  # refused: in every try, the row was deleted or created by another process


def prune_buckets(*, now: datetime) -> int:
    """Delete all rows of buckets that are full again, some at a time, and return how many."""
    rows = 0
    while deleted := _delete_full_buckets(now):
        rows += deleted
    return rows


def _delete_full_buckets(now: datetime) -> int:
    idle_names = TokenBucket.objects.filter(refilled_at__lt=now - IDLE).values("name")[:ROWS_PRUNED_AT_ONCE]
    return TokenBucket.objects.filter(name__in=idle_names, refilled_at__lt=now - IDLE).delete()[0]
