"""Tables can be distributed over several databases as docs/operating.md says. Statements filter by the column of
distribution.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.utils import timezone

from affidavit import args_hash
from catalog.ingest.fold import fold_reports
from intents.gate.mint import mint_for_call
from intents.gate.needs_confirmation import Call
from outcomes.broken_joins.prune import delete_expired_joins
from outcomes.ingest.delete_conversation import delete_conversation
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/operating.md"
DISTRIBUTED = dict(re.findall(r"create_distributed_table\('(\w+)', '(\w+)'", DOCUMENT.read_text()))
REFERENCE = set(re.findall(r"create_reference_table\('(\w+)'\)", DOCUMENT.read_text()))
ROOMS = ("alerts", "catalog", "intents", "outcomes", "wire", "workspaces")
SELECT_UNIQUE_INDEXES = """
SELECT indexrelid::regclass::text, attname FROM pg_index
JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
WHERE indrelid = %s::regclass AND indisunique
"""
SELECT_FOREIGN_KEYS = """
SELECT confrelid::regclass::text,
       ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = conrelid AND attnum = ANY(conkey)),
       ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = confrelid AND attnum = ANY(confkey))
FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'f'
"""
SELECT_PARTITIONS = "SELECT relid::regclass::text FROM pg_partition_tree(%s::regclass) WHERE isleaf"
NOW = timezone.now()
pytestmark = pytest.mark.django_db


def read_rows(statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchall()


def test_every_table_but_two_is_distributed_or_a_reference_table():
    tables = {model._meta.db_table for model in apps.get_models() if model._meta.app_label in ROOMS}
    documented = {*DISTRIBUTED, *REFERENCE}
    assert tables - documented == {"workspaces_attempts", "workspaces_tokenbucket"} & tables
    assert {table for table in documented if table.split("_")[0] in ROOMS} <= tables
    assert not DISTRIBUTED.keys() & REFERENCE


@pytest.mark.parametrize("table", sorted(DISTRIBUTED))
def test_every_unique_index_begins_with_the_column_of_distribution(table):
    indexes = dict(read_rows(SELECT_UNIQUE_INDEXES, table))
    assert indexes
    assert set(indexes.values()) == {DISTRIBUTED[table]}, indexes


@pytest.mark.parametrize("table", sorted({*DISTRIBUTED, *REFERENCE}))
def test_foreign_keys_lead_to_reference_tables_or_have_the_column_of_distribution(table):
    for target, columns, target_columns in read_rows(SELECT_FOREIGN_KEYS, table):
        if target not in REFERENCE:
            assert DISTRIBUTED[table] in columns, (table, columns, target)
            assert DISTRIBUTED[target] in target_columns, (table, columns, target)


class Statements:
    """The distinct statements that a connection executes, each with the parameters of its first execution."""

    def __init__(self) -> None:
        self.parameters: dict[str, Any] = {}

    def __call__(self, execute: Any, sql: Any, parameters: Any, many: bool, context: Any) -> Any:
        if isinstance(sql, str) and not many:
            self.parameters.setdefault(sql, parameters)
        return execute(sql, parameters, many, context)


def plan_tables(statement: str, parameters: Any) -> set[str]:
    """Return the tables that the plan of a statement reads or writes."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}", parameters)
        return set(re.findall(r'"Relation Name": "(\w+)"', json.dumps(cursor.fetchone()[0])))


def work_on_outcomes(workspace: Any, api: Any) -> None:
    production, staging = (workspace.workspace.environments.get(name=name) for name in ("production", "staging"))
    record_outcomes(production, [Report("c1", "purchase"), Report("c2", "purchase")], now=NOW)
    register_conversations(production, [Arrival("c1")], now=NOW)
    record_outcomes(production, [Report("c1", "purchase"), Report("c1", "renewal")], reported_by=1, now=NOW)
    record_outcomes(staging, [Report("c1", "purchase")], now=NOW)
    delete_expired_joins(workspace.workspace, NOW + timedelta(days=1), 10)
    delete_conversation(workspace.workspace, "c1", ["production"])


def work_on_reports(workspace: Any, api: Any) -> None:
    observation = {"method": "GET", "path": "/orders", "status": 200, "count": 1, "response": {"type": "string"}}
    for body in ({"observations": [observation]}, {"observations": [{**observation, "response": {"type": "number"}}]}):
        assert api.post("/api/witness-reports", {"reportId": str(uuid.uuid4()), **body}).status_code == 202
        fold_reports(workspace.workspace.environments.get(name="production"), now=NOW)
    body = {"reportId": str(uuid.uuid4()), "verifications": [{"result": "accepted"}, {"result": "expired"}]}
    assert api.post("/api/verification-reports", body, headers={"Idempotency-Key": "k"}).status_code == 200


def work_on_intents(workspace: Any, api: Any) -> None:
    production = workspace.workspace.environments.get(name="production")
    mint_for_call(production, Call("user", "GET /orders", args_hash({})), now=timezone.now())


DETAIL_PAGES = ("toolcall", "search")


def read_pages(workspace: Any, api: Any) -> None:
    start = f"/w/{workspace.workspace.slug}/production"
    for page in ("overview", "outcomes", "outcome", "joins", "rejections", "catalog", "drift", *DETAIL_PAGES):
        answer = api.get(f"{start}/{page}.json", range="90d", key_="purchase", id="c2", q="c")
        assert answer.status_code in (200, 404)
        b"".join(answer.streaming_content) if answer.streaming else answer.content


WORK: Mapping[str, Callable[[Any, Any], None]] = {
    work.__name__: work for work in (work_on_outcomes, work_on_reports, work_on_intents, read_pages)
}
# Django joins these tables by row ids alone. One database does this fast, but a cluster would read all partitions.
BY_ROW_ID = re.compile(
    r'FROM "catalog_(operation|operationpart|freshstart|maprule|operationversion)"|^UPDATE "catalog_'
)


HASHED = {"outcomes_conversation", "outcomes_outcome", "outcomes_tally", "outcomes_apikeytally"}
EXPECTED = {
    "work_on_outcomes": HASHED,
    "work_on_reports": {"catalog_witnessreport", "intents_verificationtally", "wire_idempotentanswer"},
    "work_on_intents": {"intents_mintedintent"},
    "read_pages": {"outcomes_tally", "intents_rejection"},
}


@pytest.mark.parametrize("name", sorted(WORK))
def test_statements_filter_by_the_column_of_distribution(workspace, api, name):
    work_on_outcomes(workspace, api)
    statements = Statements()
    with connection.execute_wrapper(statements):
        WORK[name](workspace, api)
    partitions = {table: {name for (name,) in read_rows(SELECT_PARTITIONS, table)} for table in HASHED}
    named: set[str] = set()
    for statement, parameters in statements.parameters.items():
        tables = {table for table in DISTRIBUTED if re.search(rf"\b{table}\b", statement)}
        if not tables or statement.startswith("LOCK TABLE") or BY_ROW_ID.search(statement):
            continue
        named |= tables
        for table in tables:
            assert DISTRIBUTED[table] in statement, statement
        if tables & HASHED and statement.lstrip().startswith(("SELECT", "WITH", "UPDATE", "DELETE")):
            read = plan_tables(statement, parameters)
            for table in HASHED:
                assert len(read & partitions[table]) <= 1 + ('environment_id" IN' in statement), (table, statement)
    assert named >= EXPECTED[name]
