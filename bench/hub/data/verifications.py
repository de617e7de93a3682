"""Fill a workspace with tallies of verifications, by the statement with which the hub stores verification reports."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import psycopg

from affidavit import REASONS
from bench.hub.data.workspaces import SELECT_WORKSPACE_IDS, BenchWorkspace, connect, create_workspace
from intents.reports.tally_sql import ADD_TO_TALLIES
from intents.reports.verification import ACCEPTED
from wire.time.period import QUARTER, floor_to_quarter

QUARTERS_A_DAY = 96
OPERATIONS = 20
RESULTS = [(ACCEPTED, 1), (ACCEPTED, 2), *((reason, 2) for reason in sorted(REASONS)[:10])]
KINDS = [(*result, f"GET /orders-{number}/{{id}}") for result, number in product(RESULTS, range(OPERATIONS))]
INSERT_REJECTIONS = """
INSERT INTO intents_rejection (environment_id, occurred_at, reason, version, operation, tool_call_id, count)
SELECT environment_id, start, result, version, operation, 'call-1', count FROM intents_verificationtally
WHERE environment_id = %(environment)s AND result <> %(accepted)s AND id %% 20 = 0
"""


def fill_verifications(name: str, days: int, folder: Path) -> BenchWorkspace:
    """Create a workspace with len(KINDS) tallies per quarter hour of the last days, and a rejection for 4 % of them."""
    facts = create_workspace(name)
    with connect(folder) as connection:
        connection.execute("SET synchronous_commit = off")  # for loading only
        environment, _ = connection.execute(SELECT_WORKSPACE_IDS, facts).fetchone() or (0, 0)
        end = floor_to_quarter(datetime.now(UTC)) + QUARTER
        for day in range(days, 0, -1):
            add_day(connection, environment, end - timedelta(days=day))
        connection.execute(INSERT_REJECTIONS, {"environment": environment, "accepted": ACCEPTED})
        connection.execute("VACUUM ANALYZE")
    return BenchWorkspace(facts["slug"], environment, days * QUARTERS_A_DAY * len(KINDS), facts["secretKey"], folder)


def add_day(connection: psycopg.Connection[Any], environment: int, first: datetime) -> None:
    starts = [first + number * QUARTER for number in range(QUARTERS_A_DAY) for _ in KINDS]
    results, versions, operations = map(list, zip(*KINDS * QUARTERS_A_DAY, strict=True))
    connection.execute(
        ADD_TO_TALLIES,
        {
            "environment": environment,
            "starts": starts,
            "results": results,
            "versions": versions,
            "operations": operations,
            "counts": [1 + number % 7 for number in range(len(starts))],
            "last_times": starts,
        },
    )
