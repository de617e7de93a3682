"""Create the partitions of the monthly logs of all rooms."""

from __future__ import annotations

from datetime import datetime

from django.db.backends.base.base import BaseDatabaseWrapper

from catalog.ingest.prune import INBOX
from intents.gate.prune import MINTED_INTENTS
from intents.reports.prune import REJECTIONS
from wire.postgresql.monthly_partitions import create_coming_months, create_months, list_months
from workspaces.audit.prune import AUDIT_LOG

MONTHLY_LOGS = (INBOX, REJECTIONS, MINTED_INTENTS, AUDIT_LOG)


def create_partitions(*, now: datetime) -> None:
    for log in MONTHLY_LOGS:
        create_coming_months(log, now=now)


def create_partitions_of(source: BaseDatabaseWrapper) -> None:
    """Create the partitions that another database has, so that not all of its rows go into the default partition."""
    for log in MONTHLY_LOGS:
        create_months(log, list_months(log, source))
