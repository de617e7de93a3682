"""Read what a hub stores from its pages and downloads. Ids that no page lists come from its database."""

from __future__ import annotations

import csv
import io
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg

from tests.faults.ledger import Bounds, Item
from tests.hub.hub_process import Hub

EVER = "from=2000-01-01&to=2100-01-01"  # with future times, which a wrong clock may have caused
PRODUCTION = "e.name = 'production'"
SELECT_CONVERSATIONS = f"""
SELECT conversation_id FROM outcomes_conversation c JOIN workspaces_environment e ON e.id = c.environment_id
WHERE registered_at IS NOT NULL AND {PRODUCTION}
"""
SELECT_WITNESS_REPORTS = f"""
SELECT report_id::text FROM catalog_witnessreport r JOIN workspaces_environment e ON e.id = r.environment_id
WHERE folded_at IS NOT NULL AND {PRODUCTION}
"""
SELECT_DEAD_LETTERS = f"""
SELECT report_id::text FROM catalog_witnessreport r JOIN workspaces_environment e ON e.id = r.environment_id
WHERE parked_at IS NOT NULL AND {PRODUCTION}
"""


def count_stored(hub: Hub, key: str, connection: psycopg.Connection[Any]) -> Counter[Item]:
    """Return how often each item is stored. Every report must be folded already."""
    stored: Counter[Item] = Counter()
    for table in ("outcome.csv?table=conversations", "joins.csv?table=broken"):
        for row in read_table(hub, key, table):
            name = f"{row['conversationId']} {row['outcomeKey']}"
            stored[Item("outcome", name)] += 1
            stored[Item("report of an outcome", name)] += int(row["reports"])
    for operation in hub.request("/api/catalog", key=key)[1]["operations"]:
        stored[Item("observation", f"{operation['method']} {operation['path']}")] += operation["observations"]
    for row in read_table(hub, key, "rejections.csv?table=rejections"):
        stored[Item("rejection", row["toolCallId"])] += int(row["count"])
    for row in read_table(hub, key, "rejections.csv?table=operations"):
        if row["operation"] != "POST /rejected":
            stored[Item("verification", row["operation"])] += int(row["verifications"])
    selections = {
        "conversation": SELECT_CONVERSATIONS,
        "witness report": SELECT_WITNESS_REPORTS,
        "dead letter": SELECT_DEAD_LETTERS,
    }
    for kind, select in selections.items():
        stored.update(Item(kind, name) for (name,) in connection.execute(select))
    return stored


def compare_totals(hub: Hub, key: str, stored: Mapping[Item, int]) -> tuple[dict[Item, Bounds], Counter[Item]]:
    """Return the totals that were counted from the rows, and the totals that the page shows. They must be equal."""
    kinds = Counter[str]()
    for item, number in stored.items():
        kinds[item.kind] += number
    expected = {"conversations": kinds["conversation"], "reports": kinds["report of an outcome"]}
    (totals,) = (row for row in read_table(hub, key, "outcomes.csv?table=totals") if row["period"] == "now")
    shown = {name: int(totals[name]) for name in expected} | {
        "outcomes": int(totals["outcomes"]) + int(totals["brokenJoins"])
    }
    expected["outcomes"] = kinds["outcome"]
    bounds = {Item("total", name): Bounds(number, number) for name, number in expected.items()}
    return bounds, Counter({Item("total", name): number for name, number in shown.items()})


def read_table(hub: Hub, key: str, table: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a table of production for all time. Raise AssertionError if the download broke off."""
    request = urllib.request.Request(f"{hub.address}/w/-/production/{table}&{EVER}", headers={"x-service-api-key": key})
    with urllib.request.urlopen(request, timeout=300) as response:
        text = response.read().decode()
    assert "\nINCOMPLETE" not in text, f"{table} broke off"
    yield from csv.DictReader(io.StringIO(text))
