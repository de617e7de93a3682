"""Broken joins become outcomes because their conversations arrived (contract 2)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import connection

from outcomes.ingest.report_sql import HEAL
from workspaces.models import Environment


def heal(environment: Environment, registered: Sequence[int], *, now: datetime) -> int:
    """Heal what waited for these conversations (row ids, registered in this same transaction) and tally both.

    Returns how many outcomes healed. Each keeps its times and is counted at the time of its first report.
    """
    with connection.cursor() as cursor:
        cursor.execute(HEAL, {"environment": environment.pk, "registered": list(registered), "now": now})
        return cursor.fetchone()[0]
