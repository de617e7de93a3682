"""Partitions of the tables of all rooms: create those of coming months, and gather statistics for the planner."""

from __future__ import annotations

from datetime import datetime

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import sql

from catalog.ingest.prune import INBOX
from intents.gate.prune import MINTED_INTENTS
from intents.reports.prune import REJECTIONS
from wire.postgresql.monthly_partitions import create_coming_months, create_months, list_months
from workspaces.audit.prune import AUDIT_LOG

MONTHLY_LOGS = (INBOX, REJECTIONS, MINTED_INTENTS, AUDIT_LOG)
SELECT_PARTITIONED_TABLES = """
SELECT relname FROM pg_class WHERE relkind = 'p' AND relnamespace = current_schema()::regnamespace ORDER BY relname
"""


def create_partitions(*, now: datetime) -> None:
    for log in MONTHLY_LOGS:
        create_coming_months(log, now=now)


def create_partitions_of(source: BaseDatabaseWrapper) -> None:
    """Create the partitions that another database has, so that not all of its rows go into the default partition."""
    for log in MONTHLY_LOGS:
        create_months(log, list_months(log, source))


def analyze_partitioned_tables() -> None:
    """Gather the statistics of partitioned tables as a whole; autovacuum gathers only those of partitions."""
    with connection.cursor() as cursor:
        cursor.execute(SELECT_PARTITIONED_TABLES)
        for (name,) in cursor.fetchall():
            cursor.execute(sql.SQL("ANALYZE {}").format(sql.Identifier(name)))
