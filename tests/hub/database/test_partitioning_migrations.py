"""Partitioning tables with data loses no row, unique constraint or index."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.migrations.executor import MigrationExecutor

from hub.backup.tables import PLAIN_FORMATS, list_columns, summarize

BEFORE = [
    ("catalog", "0012_observations_by_day"),
    ("intents", "0004_verification_rollup"),
    ("outcomes", "0005_shards"),
    ("wire", "0002_keyed_hashes"),
    ("workspaces", "0005_retention_of_days"),
]
APPS = [app for app, _ in BEFORE]
# Columns that the rewritten tables no longer have, or that have another meaning there
OTHER_COLUMNS = {
    "outcomes_outcome": {"id"},
    "workspaces_auditentry": {"workspace_id"},
    "catalog_operationpart": {"environment_id"},
    "intents_confirmation": {"effective_at"},
    "intents_rejection": {"api_key_id"},
}
HASHED = ("outcomes_conversation", "outcomes_outcome", "outcomes_tally", "outcomes_apikeytally")
LOGS = ("intents_rejection", "intents_mintedintent", "workspaces_auditentry")
REKEYED = ("catalog_operation", "catalog_operationpart", "intents_confirmation", "wire_idempotentanswer")
TABLES = (*HASHED, *LOGS, *REKEYED)
FILL = """
INSERT INTO workspaces_workspace (id, name, slug, created_at)
  SELECT 'ws_' || n, 'W' || n, 'w' || n, now() FROM generate_series(1, 3) AS n;
INSERT INTO workspaces_environment (workspace_id, name, label, audience, created_at)
  SELECT 'ws_' || n % 3 + 1, 'e' || n, '', 'a' || n, now() FROM generate_series(1, 30) AS n;
INSERT INTO outcomes_conversation (environment_id, conversation_id, started_at, registered_at, bare_form)
  SELECT environment.id, 'c' || n, at, at, CASE WHEN at IS NULL THEN NULL ELSE 'c' || n END
  FROM workspaces_environment AS environment CROSS JOIN generate_series(1, 40) AS n
  CROSS JOIN LATERAL (SELECT CASE WHEN n % 4 > 0 THEN now() - n * interval '1 day' END AS at) AS start;
INSERT INTO outcomes_outcome (environment_id, conversation_id, outcome_key, reports, first_reported_at,
    last_reported_at, broken, healed_at, reported_by)
  SELECT environment_id, id, key, 1, now(), now(), started_at IS NULL, NULL, 7
  FROM outcomes_conversation CROSS JOIN unnest(ARRAY['purchase', 'résumé 🎉', '']) AS key;
INSERT INTO outcomes_tally (environment_id, grain, outcome_key, starts_at, lane, outcomes, broken, reports, reached,
    conversations)
  SELECT environment_id, grain, outcome_key, date_trunc('month', now()), 0, count(*), 2, 3, 4, 5
  FROM outcomes_outcome CROSS JOIN unnest(ARRAY['q', 'd', 'm']) AS grain GROUP BY 1, 2, 3;
INSERT INTO outcomes_apikeytally (environment_id, grain, api_key, starts_at, lane, outcomes, broken)
  SELECT environment_id, 'd', 7, date_trunc('day', now()), n, n, n
  FROM outcomes_tally CROSS JOIN generate_series(0, 3) AS n WHERE grain = 'm' AND outcome_key = '';
INSERT INTO intents_rejection (environment_id, occurred_at, reason, version, operation, tool_call_id, count)
  SELECT id, now() - n * interval '20 days', 'expired', 2, 'GET /orders', '', n
  FROM workspaces_environment CROSS JOIN generate_series(0, 60) AS n;
INSERT INTO intents_confirmation (id, environment_id, sub, operation, args_hash, summary, state, created_at, expires_at,
    decided_by, tool_call_id)
  SELECT gen_random_uuid(), id, 'user', 'POST /orders', '', 'Order', 'used', now(), now(), '', ''
  FROM workspaces_environment;
INSERT INTO intents_mintedintent (environment_id, tool_call_id, sub, operation, args_hash, requires_step_up,
    confirmation_id, issued_at, expires_at)
  SELECT environment_id, 'call', sub, operation, '', false, id, now() - n * interval '100 days', now()
  FROM intents_confirmation CROSS JOIN generate_series(0, 3) AS n;
INSERT INTO workspaces_auditentry (workspace_id, at, actor, action, facts)
  SELECT workspace_id, now() - n * interval '100 days', 'ann', 'test', '{}'
  FROM (SELECT id FROM workspaces_workspace UNION ALL SELECT NULL) AS subject (workspace_id)
  CROSS JOIN generate_series(0, 9) AS n;
INSERT INTO catalog_operation (environment_id, method, key, statuses, names, types, undecided, media_types,
    first_seen_at, last_seen_at, begun, path, observations, properties, search, document, outline, document_digest,
    outline_digest, unknowns, version, epoch, shown_from)
  SELECT id, 'GET', '/orders', '{}', '[]', '[]', '{}', '{}', now(), now(), true, '/orders', 1, 0, '', '', '', '', '',
         0, 0, 0, 0 FROM workspaces_environment;
INSERT INTO catalog_operationpart (operation_id, part, status, epoch, evidence, silence)
  SELECT id, 'response', status, 0, '{}', '{}' FROM catalog_operation CROSS JOIN unnest(ARRAY[200, NULL]) AS status;
INSERT INTO wire_idempotentanswer (workspace_id, endpoint, key, body_digest, status, headers, body, encrypted,
    expires_at) SELECT 'ws_' || n % 3, 'e', 'k' || n, '', 200, '{}', '', false, now() FROM generate_series(1, 90) AS n;
"""
REFUSED = (
    "INSERT INTO outcomes_conversation (environment_id, conversation_id) VALUES (1, 'c1')",
    "INSERT INTO outcomes_conversation (environment_id, conversation_id) VALUES (99, 'c1')",
    "INSERT INTO outcomes_outcome SELECT * FROM outcomes_outcome WHERE environment_id = 1",
    "UPDATE intents_mintedintent SET environment_id = environment_id % 30 + 1",
    "UPDATE catalog_operationpart SET environment_id = environment_id % 30 + 1",
    "INSERT INTO wire_idempotentanswer (workspace_id, endpoint, key, body_digest, status, headers, body, encrypted,"
    " expires_at) SELECT workspace_id, endpoint, key, '', 200, '{}', '', false, now() FROM wire_idempotentanswer",
)
SELECT_INDEXES = """
SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND tablename = ANY(%s) ORDER BY indexname
"""


@pytest.fixture
def old_schema(transactional_db: None) -> Iterator[None]:
    """Let the test work in a schema with the old tables, which are filled with rows."""
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA IF EXISTS before CASCADE; CREATE SCHEMA before; SET search_path TO before")
        try:
            MigrationExecutor(connection).migrate(BEFORE)
            cursor.execute(FILL)
            yield
        finally:
            cursor.execute("SET search_path TO public; DROP SCHEMA before CASCADE")
            connection.close()  # a new connection has no cached plans of the old tables


def summarize_tables(tables: tuple[str, ...]) -> Mapping[str, Any]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(PLAIN_FORMATS)
        columns = {table: set(list_columns(connection, table)) - OTHER_COLUMNS.get(table, set()) for table in tables}
        return {table: summarize(connection, table, sorted(names)) for table, names in columns.items()}


def list_indexes(tables: tuple[str, ...]) -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(SELECT_INDEXES, [list(tables)])
        return {name for (name,) in cursor.fetchall()}


def migrate_all() -> None:
    executor = MigrationExecutor(connection)
    executor.migrate([node for app in APPS for node in executor.loader.graph.leaf_nodes(app)])


def read_row(statement: str) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()


def test_rows_indexes_and_keys_are_the_same_after_the_migration(old_schema):
    before, indexes = summarize_tables(TABLES), list_indexes(TABLES)
    assert {table: summary.rows for table, summary in before.items()} == {
        "outcomes_conversation": 1200, "outcomes_outcome": 3600, "outcomes_tally": 270, "outcomes_apikeytally": 120,
        "intents_rejection": 1830, "intents_mintedintent": 120, "workspaces_auditentry": 40, "catalog_operation": 30,
        "catalog_operationpart": 60, "intents_confirmation": 30, "wire_idempotentanswer": 90,
    }  # fmt: skip
    migrate_all()
    assert summarize_tables(TABLES) == before
    lost = {name for name in indexes - list_indexes(TABLES) if not name.endswith("_pkey")}
    assert {re.sub("_[0-9a-f]{6,8}(_like|_idx)?$", "", name) for name in lost} == {
        "one_outcome_per_conversation_and_key", "rejections_latest_first", "intents_latest_first",
        "workspaces_auditentry_workspace_id", "workspaces__workspa", "keys_by_form",
    }, "the primary keys replace them, and alike_keys the last"  # fmt: skip

    partitions = "SELECT count(DISTINCT tableoid), sum((environment_id = 1)::int) FROM outcomes_conversation"
    assert read_row(partitions) == (8, 40), "30 environments are in all 8 partitions"
    insert = "INSERT INTO outcomes_conversation (environment_id, conversation_id) VALUES (1, 'new') RETURNING id"
    assert read_row(insert) == (1201,)
    sequence = "SELECT pg_get_serial_sequence('outcomes_conversation', 'id')"
    assert read_row(sequence) == ("before.outcomes_conversation_id_seq",)
    assert read_row("SELECT count(*) FROM workspaces_auditentry WHERE workspace_id = ''") == (10,)
    months = "SELECT count(DISTINCT tableoid) BETWEEN 24 AND 26, count(*) FROM intents_rejection"
    assert read_row(f"{months} WHERE tableoid <> 'intents_rejection_default'::regclass")[0]
    old = "SELECT count(*) > 0, max(occurred_at) < now() - interval '23 months' FROM intents_rejection_default"
    assert read_row(old) == (True, True)
    misplaced = "SELECT count(*) FROM catalog_operationpart AS part JOIN catalog_operation ON operation_id = "
    on_both = "catalog_operation.id AND part.environment_id = catalog_operation.environment_id"
    assert read_row(misplaced + on_both) == (60,)

    for statement in REFUSED:
        with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; " + statement)
