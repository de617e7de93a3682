"""The database role of the web processes reads and writes data, but changes neither the audit log nor the schema."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from psycopg.errors import InsufficientPrivilege

from hub.local.database.web_role import grant_web_role
from hub.local.postgresql.server import WEB_USER_NAME, Server
from hub.local.startup_errors import StartupError
from tests.hub.hub_process import Hub, running_hub, wait_for
from workspaces.models import AuditEntry

FORBIDDEN = (
    "UPDATE workspaces_auditentry SET actor = 'nobody'",
    "DELETE FROM workspaces_auditentry",
    "INSERT INTO workspaces_auditentry_default SELECT * FROM workspaces_auditentry",
    "DELETE FROM workspaces_auditentry_default",
    "TRUNCATE workspaces_auditentry",
    "SELECT FROM workspaces_auditentry FOR UPDATE",
    "DROP TABLE workspaces_auditentry",
    "ALTER TABLE workspaces_auditentry RENAME TO forgotten",
    "CREATE RULE nothing AS ON INSERT TO workspaces_auditentry DO INSTEAD NOTHING",
    "CREATE TABLE own (id int)",
    "INSERT INTO django_migrations (app, name, applied) VALUES ('x', 'y', now())",
    "DELETE FROM django_migrations",
    "TRUNCATE workspaces_workspace CASCADE",
    "ALTER ROLE affidavit_web SUPERUSER",
    "SET ROLE affidavit",
    "SELECT setval('workspaces_auditentry_id_seq', 1)",
    "SET session_replication_role = replica",
    "COPY workspaces_workspace TO PROGRAM 'cat'",
)


@pytest.fixture
def web_connection(hub: Hub) -> Iterator[psycopg.Connection[Any]]:
    server = Server(hub.folder / "var")
    members = {**server.connection_settings(), **server.web_connection_settings()}
    address = {"host": members["HOST"], "dbname": members["NAME"], "user": members["USER"]}
    with psycopg.connect(**address, password=members["PASSWORD"], autocommit=True) as connection:
        yield connection


@pytest.mark.xdist_group("whole hub")
@pytest.mark.parametrize("statement", FORBIDDEN)
def test_the_database_refuses_what_the_role_may_not_do(hub, web_connection, statement):
    with pytest.raises(InsufficientPrivilege):
        web_connection.execute(statement)


@pytest.mark.xdist_group("whole hub")
def test_the_web_server_connects_as_this_role_and_all_other_programs_as_the_owner(hub, hub_keys, web_connection):
    assert hub.request("/api/conversation-outcomes", {"outcomes": []}, key=hub_keys["reportKey"])[0] == 200

    def list_users() -> set[str]:
        query = "SELECT DISTINCT usename FROM pg_stat_activity WHERE application_name = 'affidavit'"
        return {name for (name,) in web_connection.execute(query)}

    wait_for(lambda: "affidavit" in list_users(), 30)  # the worker connects only some seconds after the start
    assert list_users() == {WEB_USER_NAME, "affidavit"}
    assert (hub.folder / "var" / "postgres-web.password").stat().st_mode & 0o777 == 0o600
    assert web_connection.execute("SELECT count(*) > 0 FROM workspaces_auditentry").fetchone() == (True,)


@pytest.mark.xdist_group("whole hub")
def test_the_role_may_read_and_write_every_other_table(hub, web_connection):
    for model in apps.get_models(include_auto_created=True):
        table = model._meta.db_table
        wanted = "SELECT, INSERT" if model is AuditEntry else "SELECT, INSERT, UPDATE, DELETE"
        for privilege in wanted.split(", "):
            row = web_connection.execute("SELECT has_table_privilege(%s, %s)", [table, privilege]).fetchone()
            assert row == (True,), (table, privilege)


@pytest.fixture
def new_role(transactional_db: None) -> Iterator[str]:
    name = f"role_{uuid.uuid4().hex[:12]}"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {name}")
    yield name
    with connection.cursor() as cursor:
        cursor.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")


def test_a_command_grants_the_same_rights_to_another_role(new_role, capsys):
    for _ in range(2):
        call_command("grant_web_role", new_role)
    assert "only add to the audit log" in capsys.readouterr().out
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT has_table_privilege(%s, 'workspaces_auditentry', verb) FROM unnest(%s::text[]) AS verb",
            [new_role, ["INSERT", "UPDATE", "DELETE"]],
        )
        assert [row[0] for row in cursor.fetchall()] == [True, False, False]


def test_excess_rights_are_revoked(new_role):
    with connection.cursor() as cursor:
        cursor.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {new_role}")
        cursor.execute(f"GRANT CREATE ON SCHEMA public TO {new_role}")
    grant_web_role(new_role)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT has_table_privilege(%(role)s, 'workspaces_auditentry', 'UPDATE'),"
            " has_table_privilege(%(role)s, 'workspaces_auditentry', 'TRUNCATE'),"
            " has_schema_privilege(%(role)s, 'public', 'CREATE')",
            {"role": new_role},
        )
        assert cursor.fetchone() == (False, False, False)


@pytest.mark.parametrize("too_much", ["ALTER ROLE {} SUPERUSER", "GRANT pg_write_all_data TO {}"])
def test_a_role_that_could_still_change_the_audit_log_is_refused(new_role, too_much):
    with connection.cursor() as cursor:
        cursor.execute(too_much.format(new_role))
    with pytest.raises(StartupError, match="could change the audit log"):
        grant_web_role(new_role)


@pytest.mark.django_db
def test_a_role_that_does_not_exist_is_one_clear_line():
    with pytest.raises(StartupError, match="has no role nobody"):
        grant_web_role("nobody")


@pytest.mark.xdist_group("whole hub")
def test_a_start_makes_a_new_password_for_the_role_if_its_file_is_gone(tmp_path: Path):
    with running_hub(tmp_path) as hub:
        hub.start()
        hub.stop()
        (hub.folder / "var" / "postgres-web.password").unlink()
        hub.start()
        assert hub.request("/readyz")[0] == 200
