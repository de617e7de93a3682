"""Migrations do not disturb a hub that runs meanwhile: they lock no table with data for long, and break no old code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pytest
from django.core.management import call_command
from django.db.migrations.loader import MigrationLoader

APPS = ("alerts", "catalog", "intents", "outcomes", "wire", "workspaces")
# The last migrations for which the hub is stopped, because they partition tables. Nothing was released before them.
# All later migrations are applied while the hub runs, and the tables that exist at BASE may contain data.
BASE = {
    "catalog": "0014_inbox_by_month", "intents": "0006_months", "outcomes": "0006_partitions",
    "wire": "0003_keys", "workspaces": "0007_months",
}  # fmt: skip
# Why a migration may break a rule, by the migration and the rule
REASONS: dict[tuple[str, str, str], str] = {
    ("intents", "0008_rejections_of_a_tool_call", "runs Python, perhaps over many rows"): (
        "it creates an index CONCURRENTLY in each partition, whose names only the database knows"
    ),
    ("intents", "0010_intents_with_step_up", "runs Python, perhaps over many rows"): (
        "it creates an index CONCURRENTLY in each partition, whose names only the database knows"
    ),
    ("intents", "0011_intents_of_a_user", "runs Python, perhaps over many rows"): (
        "it creates an index CONCURRENTLY in each partition, whose names only the database knows"
    ),
    ("outcomes", "0007_broken_by_last_report", "runs Python, perhaps over many rows"): (
        "it creates an index CONCURRENTLY in each partition, whose names only the database knows"
    ),
    ("outcomes", "0008_alike_keys", "runs Python, perhaps over many rows"): (
        "it creates an index CONCURRENTLY in each partition, whose names only the database knows"
    ),
}

RULES = {
    "adds an index without CONCURRENTLY": r"^CREATE (UNIQUE )?INDEX (?!CONCURRENTLY)",
    "rewrites a table": (
        r"^ALTER TABLE .*(ALTER COLUMN \S+ (SET DATA )?TYPE |SET (UN)?LOGGED|GENERATED |\bSERIAL\b|\bBIGSERIAL\b)"
        r"|^(VACUUM FULL|CLUSTER)\b"
        r"|^ALTER TABLE .*ADD COLUMN .* DEFAULT \(?(gen_random_uuid|uuidv7|random|clock_timestamp|nextval)\("
    ),
    "checks every row": (
        r"^ALTER TABLE .*ALTER COLUMN \S+ SET NOT NULL"
        r"|^ALTER TABLE .*ADD (CONSTRAINT \S+ )?(CHECK|FOREIGN KEY)(?!.* NOT VALID)"
        r"|^ALTER TABLE .*ADD (CONSTRAINT \S+ )?(UNIQUE|PRIMARY KEY|EXCLUDE)(?! USING INDEX)"
    ),
    "keeps old code from writing": (
        r"^ALTER TABLE .*ADD COLUMN (?=.* NOT NULL)(?!.* DEFAULT )|^ALTER TABLE .*ALTER COLUMN \S+ DROP DEFAULT"
    ),
    "takes away what old code reads": r"^(ALTER TABLE .*(DROP COLUMN|RENAME)|DROP TABLE|TRUNCATE)",
    "locks a table": r"^LOCK\b|^REINDEX (?!.*CONCURRENTLY)",
    "writes many rows": r"^(UPDATE|DELETE|INSERT|COPY|MERGE|WITH)\b",
    "runs Python, perhaps over many rows": r"^-- THIS OPERATION CANNOT BE WRITTEN AS SQL",
}
NEW_TABLE = re.compile(r'^CREATE TABLE "?(\w+)"?')
TABLE = re.compile(r'^(?:ALTER TABLE(?: ONLY)?|CREATE (?:UNIQUE )?INDEX \S+ ON|DROP TABLE(?: IF EXISTS)?) "?(\w+)"?')


def list_later_migrations() -> list[tuple[str, str]]:
    """Return the migrations after BASE, in the order in which they are applied."""
    graph = MigrationLoader(None).graph
    nodes = [node for leaf in graph.leaf_nodes() if leaf[0] in APPS for node in graph.forwards_plan(leaf)]
    return [node for node in dict.fromkeys(nodes) if node[0] in APPS and node[1] > BASE.get(node[0], "")]


def split_statements(sql: str) -> Iterator[str]:
    """Yield the statements of a migration, each in one line; an operation in Python as its comment."""
    text = ""
    for line in sql.splitlines():
        if line.startswith("-- THIS OPERATION"):
            yield line
        elif not line.startswith("--") and (line := line.strip()):
            text = f"{text} {line}".strip()
            if text.endswith(";"):
                yield text
                text = ""


def list_faults(statements: Sequence[str], new_tables: set[str]) -> Iterator[tuple[str, str]]:
    """Yield each rule that is broken, with the statement that breaks it.

    new_tables: the tables without data. Tables that the statements create are added.
    """
    for statement in statements:
        if match := NEW_TABLE.match(statement):
            new_tables.add(match[1])
        table = TABLE.match(statement)
        if table and table[1] in new_tables:
            continue
        for rule, pattern in RULES.items():
            if re.search(pattern, statement, re.IGNORECASE):
                yield rule, statement


@pytest.mark.django_db
def test_no_migration_after_the_base_disturbs_a_running_hub_without_a_reason(capsys):
    new_tables: set[str] = set()
    faults: dict[tuple[str, str, str], str] = {}
    for app, name in list_later_migrations():
        call_command("sqlmigrate", app, name)
        statements = [*split_statements(capsys.readouterr().out)]
        faults |= {(app, name, rule): statement for rule, statement in list_faults(statements, new_tables)}
    assert {key: statement for key, statement in faults.items() if key not in REASONS} == {}
    assert REASONS.keys() - faults.keys() == set(), "these reasons are no longer needed"


def test_the_base_migrations_exist():
    migrations = MigrationLoader(None).disk_migrations
    assert [node for node in BASE.items() if node not in migrations] == []


@pytest.mark.parametrize(
    ("statement", "rule"),
    [
        ('CREATE INDEX "i" ON "outcomes_outcome" ("x");', "adds an index without CONCURRENTLY"),
        ('ALTER TABLE "t" ALTER COLUMN "x" TYPE bigint USING "x"::bigint;', "rewrites a table"),
        ('ALTER TABLE "t" ADD COLUMN "x" uuid DEFAULT gen_random_uuid() NOT NULL;', "rewrites a table"),
        ('ALTER TABLE "t" ADD COLUMN "x" text GENERATED ALWAYS AS (upper(y)) STORED;', "rewrites a table"),
        ('ALTER TABLE "t" ALTER COLUMN "x" SET NOT NULL;', "checks every row"),
        ('ALTER TABLE "t" ADD CONSTRAINT "c" CHECK ("x" > 0);', "checks every row"),
        ('ALTER TABLE "t" ADD CONSTRAINT "c" FOREIGN KEY ("x") REFERENCES "u" ("id");', "checks every row"),
        ('ALTER TABLE "t" ADD CONSTRAINT "c" UNIQUE ("x");', "checks every row"),
        ('ALTER TABLE "t" ADD COLUMN "x" integer NOT NULL;', "keeps old code from writing"),
        ('ALTER TABLE "t" ALTER COLUMN "x" DROP DEFAULT;', "keeps old code from writing"),
        ('ALTER TABLE "t" DROP COLUMN "x" CASCADE;', "takes away what old code reads"),
        ('ALTER TABLE "t" RENAME COLUMN "x" TO "y";', "takes away what old code reads"),
        ("LOCK TABLE t IN SHARE MODE;", "locks a table"),
        ("UPDATE t SET x = 1;", "writes many rows"),
        ("-- THIS OPERATION CANNOT BE WRITTEN AS SQL", "runs Python, perhaps over many rows"),
    ],
)
def test_a_disturbing_statement_is_reported(statement, rule):
    assert [fault for fault, _ in list_faults([statement], set())] == [rule]


@pytest.mark.parametrize(
    "statement",
    [
        'ALTER TABLE "t" ADD COLUMN "x" integer NULL;',
        'ALTER TABLE "t" ADD COLUMN "x" integer DEFAULT 0 NOT NULL;',
        'CREATE INDEX CONCURRENTLY "i" ON "t" ("x");',
        'ALTER TABLE "t" ADD CONSTRAINT "c" CHECK ("x" > 0) NOT VALID;',
        'ALTER TABLE "t" VALIDATE CONSTRAINT "c";',
        'ALTER TABLE "t" ADD CONSTRAINT "c" UNIQUE USING INDEX "i";',
        'CREATE TABLE "t" ("id" bigint NOT NULL PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY);',
    ],
)
def test_a_harmless_statement_passes(statement):
    assert [*list_faults([statement], set())] == []


def test_a_new_table_may_be_changed():
    statements = ['CREATE TABLE "t" ("id" bigint);', 'CREATE INDEX "i" ON "t" ("id");', 'DROP TABLE "t";']
    assert [*list_faults(statements, set())] == []
