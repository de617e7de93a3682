"""A workspace with very many outcomes, made by the database itself, and the bare statement that reports them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg

from bench._quick_load import without_indexes
from hub.local.embedded_postgres import Server
from outcomes.ingest.report_sql import RECORD
from outcomes.tallies.sharded_sql import ADD_TO_API_KEY_TALLIES, ADD_TO_OUTCOME_TALLIES, FREE_SHARD

MADE = """
SELECT environment.id, key.id
FROM workspaces_workspace AS workspace
JOIN workspaces_environment AS environment
  ON environment.workspace_id = workspace.id AND environment.name = 'production'
JOIN workspaces_apikey AS key ON key.workspace_id = workspace.id AND key.kind = 'secret'
WHERE slug = %(slug)s
"""
TABLES = ("outcomes_conversation", "outcomes_outcome", "outcomes_tally", "outcomes_apikeytally")
RUN = f"{time.time():.0f}"  # in the keys that this run reports, so that they are new where the data were kept

# A fifth as many conversations over a year, the oldest first; each has five outcomes: four of the commonest keys, and
# one of 100,000 others, of which the n-th is 1/n as frequent as the first.
CONVERSATIONS = """
INSERT INTO outcomes_conversation (environment_id, conversation_id, started_at, registered_at, bare_form)
SELECT %(environment)s, 'conv-' || n, at, at, 'conv-' || n
FROM (SELECT n, %(now)s::timestamptz - interval '8 hours' - n * (interval '365 days' / %(conversations)s) AS at
      FROM generate_series(%(conversations)s, 1, -1) AS n) AS made
"""
OUTCOMES = """
INSERT INTO outcomes_outcome (environment_id, conversation_id, outcome_key, reports, first_reported_at,
                              last_reported_at, broken, reported_by)
SELECT %(environment)s, id,
       CASE k WHEN 5 THEN 'tail-' || floor(exp(ln(100000) * (hashint8extended(id, 0) & 268435455) / 268435456.0))
         ELSE 'hot-' || k END,
       1, started_at + (id %% 480) * interval '1 minute', %(now)s, false, %(key)s
FROM outcomes_conversation CROSS JOIN generate_series(1, 5) AS k
WHERE environment_id = %(environment)s AND started_at IS NOT NULL
"""
LOST = """
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
CHANGE = """
change AS (
  SELECT outcome_key, first_reported_at AS at, (NOT broken)::int AS outcomes, broken::int AS broken, reports,
         0 AS reached, 0 AS conversations, first_reported_at, last_reported_at, reported_by
  FROM outcomes_outcome WHERE environment_id = %(environment)s
  UNION ALL
  SELECT outcome_key, started_at, 0, 0, 0, 1, 0, NULL, NULL, NULL
  FROM outcomes_outcome AS outcome
  JOIN outcomes_conversation AS conversation ON conversation.id = outcome.conversation_id
  WHERE outcome.environment_id = %(environment)s AND started_at IS NOT NULL
  UNION ALL
  SELECT '', started_at, 0, 0, 0, 0, 1, NULL, NULL, NULL
  FROM outcomes_conversation WHERE environment_id = %(environment)s AND started_at IS NOT NULL
)"""
# As reporting adds to them, but that rows lie by their time, as they come to lie where time passes.
TALLIES = [
    f"WITH {CHANGE}, {add.format(shard=FREE_SHARD)} SELECT 1".replace(
        'ORDER BY grain, label COLLATE "C", starts_at', "ORDER BY starts_at"
    )
    for add in (ADD_TO_OUTCOME_TALLIES, ADD_TO_API_KEY_TALLIES)
]


@dataclass(frozen=True)
class Filled:
    """A workspace that was filled, and what opens it."""

    slug: str
    environment: int
    conversations: int
    key: str
    folder: Path


def connect(folder: Path) -> psycopg.Connection[Any]:
    settings = Server(folder).connection_settings()
    return psycopg.connect(
        host=settings["HOST"],
        user=settings["USER"],
        password=settings["PASSWORD"],
        dbname=settings["NAME"],
        autocommit=True,
    )


def filled(sizes: Sequence[int], folder: Path) -> list[Filled]:
    """A workspace of each size, those of an earlier run where the folder was kept."""
    facts_file = folder / f"filled-{'-'.join(map(str, sizes))}.json"
    if not facts_file.exists():
        with connect(folder) as connection, without_indexes(connection, *TABLES):
            facts = [fill(connection, size) for size in sizes]
        facts_file.write_text(json.dumps(facts))
    return [Filled(*facts, folder) for facts in json.loads(facts_file.read_text())]


def fill(connection: psycopg.Connection[Any], outcomes: int) -> tuple[str, int, int, str]:
    """A new workspace with so many outcomes, tallied as if they had been reported, and 1 % broken joins more."""
    command = [sys.executable, "manage.py", "create_workspace", "--json", f"Bench {outcomes}"]
    facts = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    query: dict[str, Any] = {"conversations": outcomes // 5, "lost": max(outcomes // 100, 1), "now": datetime.now(UTC)}
    query |= dict(zip(("environment", "key"), connection.execute(MADE, facts).fetchone() or (), strict=True))
    for statement in (CONVERSATIONS, OUTCOMES, LOST, *TALLIES):
        connection.execute(statement, query)
    return facts["slug"], query["environment"], query["conversations"], facts["secretKey"]


def record_directly(filled: Filled, *, clients: int, seconds: float, size: int) -> float:
    """Outcomes per second that so many psycopg clients store with the bare statement."""
    counts = [0] * clients

    def run(number: int) -> None:
        with connect(filled.folder) as connection:
            until, begin = time.perf_counter() + seconds, 0
            while time.perf_counter() < until:
                connection.execute(RECORD, batch(filled, f"bare-{number}", begin, size))
                begin += size
                counts[number] += size

    threads = [threading.Thread(target=run, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / seconds


def batch(filled: Filled, name: str, begin: int, size: int) -> dict[str, Any]:
    return {
        "environment": filled.environment,
        "conversation_ids": [f"conv-{1 + (begin + n) % filled.conversations}" for n in range(size)],
        "outcome_keys": [f"{name}-{RUN}-{begin // filled.conversations}"] * size,
        "reported_by": 1,
        "now": datetime.now(UTC),
    }
