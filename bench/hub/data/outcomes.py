"""Fill a workspace with many outcomes by SQL, and measure the bare statement that records outcomes."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg

from bench.hub.data.quick_load import suspend_indexes
from bench.hub.data.workspaces import SELECT_WORKSPACE_IDS, BenchWorkspace, connect, create_workspace
from outcomes.ingest.report_sql import RECORD
from outcomes.tallies.sharded_sql import ADD_TO_API_KEY_TALLIES, ADD_TO_OUTCOME_TALLIES
from wire.tallies.shards import FREE_SHARD

TABLES = ("outcomes_conversation", "outcomes_outcome", "outcomes_tally", "outcomes_apikeytally")
RUN = f"{time.time():.0f}"  # part of the outcome keys of this run: they are new even if an earlier run's data was kept

# There are a fifth as many conversations as outcomes. Their starts are spread over a year, and the oldest is inserted
# first. Each has five outcomes: the four top keys, and one of 100,000 other keys. Of the other keys, the n-th is 1/n as
# frequent as the first.
INSERT_CONVERSATIONS = """
INSERT INTO outcomes_conversation (environment_id, conversation_id, started_at, registered_at, bare_form)
SELECT %(environment)s, 'conv-' || n, at, at, 'conv-' || n
FROM (SELECT n, %(now)s::timestamptz - interval '8 hours' - n * (interval '365 days' / %(conversations)s) AS at
      FROM generate_series(%(conversations)s, 1, -1) AS n) AS made
"""
INSERT_OUTCOMES = """
INSERT INTO outcomes_outcome (environment_id, conversation_id, outcome_key, reports, first_reported_at,
                              last_reported_at, broken, reported_by)
SELECT %(environment)s, id,
       CASE k WHEN 5 THEN 'tail-' || floor(exp(ln(100000) * (hashint8extended(id, 0) & 268435455) / 268435456.0))
         ELSE 'hot-' || k END,
       1, started_at + (id %% 480) * interval '1 minute', %(now)s, false, %(key)s
FROM outcomes_conversation CROSS JOIN generate_series(1, 5) AS k
WHERE environment_id = %(environment)s AND started_at IS NOT NULL
"""
INSERT_BROKEN_JOINS = """
WITH lost AS (
  INSERT INTO outcomes_conversation (environment_id, conversation_id)
  SELECT %(environment)s, 'lost-' || n FROM generate_series(1, %(lost)s) AS n RETURNING id
)
INSERT INTO outcomes_outcome (environment_id, conversation_id, outcome_key, reports, first_reported_at,
                              last_reported_at, broken, reported_by)
SELECT %(environment)s, id, 'hot-1', 1, %(now)s::timestamptz - (id %% 500000) * interval '1 minute', %(now)s, true,
       %(key)s
FROM lost
"""
SELECT_CHANGES = """
change AS (
  SELECT outcome_key, first_reported_at AS at, (NOT broken)::int AS outcomes, broken::int AS broken, reports,
         0 AS reached, 0 AS conversations, first_reported_at, last_reported_at, reported_by
  FROM outcomes_outcome WHERE environment_id = %(environment)s
  UNION ALL
  SELECT outcome_key, started_at, 0, 0, 0, 1, 0, NULL, NULL, NULL
  FROM outcomes_outcome AS outcome
  JOIN outcomes_conversation AS conversation
    ON conversation.environment_id = outcome.environment_id AND conversation.id = outcome.conversation_id
  WHERE outcome.environment_id = %(environment)s AND started_at IS NOT NULL
  UNION ALL
  SELECT '', started_at, 0, 0, 0, 0, 1, NULL, NULL, NULL
  FROM outcomes_conversation WHERE environment_id = %(environment)s AND started_at IS NOT NULL
)"""
# The statements with which a report updates tallies, except that rows are inserted in the order of their times. In
# production, too, rows are inserted in this order.
INSERT_TALLIES = [
    f"WITH {SELECT_CHANGES}, {add.format(shard=FREE_SHARD)} SELECT 1".replace(
        'ORDER BY grain, label COLLATE "C", starts_at', "ORDER BY starts_at"
    )
    for add in (ADD_TO_OUTCOME_TALLIES, ADD_TO_API_KEY_TALLIES)
]

COPY_OUTCOMES = """
COPY (
  SELECT conversation.conversation_id, outcome_key, started_at, first_reported_at, last_reported_at, reports, healed_at
  FROM outcomes_outcome AS outcome JOIN outcomes_conversation AS conversation
    ON conversation.id = outcome.conversation_id AND conversation.environment_id = outcome.environment_id
  WHERE outcome.environment_id = %(environment)s AND NOT broken
) TO STDOUT (FORMAT csv)
"""


def load_workspaces(sizes: Sequence[int], folder: Path) -> list[BenchWorkspace]:
    """Return a workspace of each size. If the folder was kept, return the workspaces of the earlier run."""
    facts_file = folder / f"filled-{'-'.join(map(str, sizes))}.json"
    if not facts_file.exists():
        with connect(folder) as connection, suspend_indexes(connection, *TABLES):
            facts = [fill_workspace(connection, size) for size in sizes]
        facts_file.write_text(json.dumps(facts))
    return [BenchWorkspace(*facts, folder) for facts in json.loads(facts_file.read_text())]


def fill_workspace(connection: psycopg.Connection[Any], outcomes: int) -> tuple[str, int, int, str]:
    """Create a workspace with `outcomes` outcomes and 1 % as many broken joins, all tallied as if reported.

    Return its slug, the id of its environment, the number of conversations, and its secret key.
    """
    facts = create_workspace(f"Bench {outcomes}")
    query: dict[str, Any] = {"conversations": outcomes // 5, "lost": max(outcomes // 100, 1), "now": datetime.now(UTC)}
    query |= dict(
        zip(("environment", "key"), connection.execute(SELECT_WORKSPACE_IDS, facts).fetchone() or (), strict=True)
    )
    for statement in (INSERT_CONVERSATIONS, INSERT_OUTCOMES, INSERT_BROKEN_JOINS, *INSERT_TALLIES):
        connection.execute(statement, query)
    return facts["slug"], query["environment"], query["conversations"], facts["secretKey"]


def measure_bare_sql(workspace: BenchWorkspace, *, clients: int, seconds: float, size: int) -> float:
    """Return how many outcomes per second this many psycopg clients record with the bare statement."""
    counts = [0] * clients

    def record_batches(number: int) -> None:
        with connect(workspace.folder) as connection:
            deadline, first = time.perf_counter() + seconds, 0
            while time.perf_counter() < deadline:
                connection.execute(RECORD, build_batch(workspace, f"bare-{number}", first, size))
                first += size
                counts[number] += size

    threads = [threading.Thread(target=record_batches, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / seconds


def measure_copy(workspace: BenchWorkspace) -> float:
    """Return the seconds in which psycopg reads all outcomes by COPY, without sorting them."""
    start = time.perf_counter()
    connection = connect(workspace.folder)
    parameters = {"environment": workspace.environment}
    with connection, psycopg.ClientCursor(connection) as cursor, cursor.copy(COPY_OUTCOMES, parameters) as copy:
        for _ in copy:
            pass
    return time.perf_counter() - start


def build_batch(workspace: BenchWorkspace, name: str, first: int, size: int) -> dict[str, Any]:
    return {
        "environment": workspace.environment,
        "conversation_ids": [f"conv-{1 + (first + n) % workspace.conversations}" for n in range(size)],
        "outcome_keys": [f"{name}-{RUN}-{first // workspace.conversations}"] * size,
        "reported_by": 1,
        "now": datetime.now(UTC),
    }
