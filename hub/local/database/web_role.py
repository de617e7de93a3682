"""The database role of the web processes: they read and write rows, but cannot change the audit log."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence

from django.db import connection, transaction
from psycopg import sql

from hub.local.postgresql.server import WEB_USER_NAME, Server
from hub.local.startup_errors import StartupError
from hub.private_files import write_private_file

# What the role may do with these tables; in all other tables it may read and write every row.
NARROW_TABLES = {"workspaces_auditentry": "SELECT, INSERT", "django_migrations": "SELECT"}

SELECT_UNWRITABLE_TABLE = """
SELECT relname FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
  AND relname <> ALL(%(narrow)s)
  AND NOT (has_table_privilege(%(role)s, oid, 'SELECT') AND has_table_privilege(%(role)s, oid, 'INSERT')
           AND has_table_privilege(%(role)s, oid, 'UPDATE') AND has_table_privilege(%(role)s, oid, 'DELETE'))
ORDER BY relname LIMIT 1
"""
# The rights on a partition count only for statements that name the partition.
SELECT_RIGHT_TO_CHANGE = """
SELECT has_schema_privilege(%(role)s, current_schema(), 'CREATE')
  OR bool_or(has_table_privilege(%(role)s, relid, 'UPDATE, DELETE, TRUNCATE'))
FROM pg_partition_tree('workspaces_auditentry')
"""
SELECT_PARTITIONS = """
SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relispartition AND relkind = 'r'
"""


def create_embedded_role(server: Server) -> None:
    """Make the embedded server's role, or give it the password of its file again."""
    if not server.web_password_file.exists():
        write_private_file(server.web_password_file, secrets.token_urlsafe(32))
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_roles WHERE rolname = %s", [WEB_USER_NAME])
        verb = sql.SQL("ALTER" if cursor.rowcount else "CREATE")
        role, password = sql.Identifier(WEB_USER_NAME), sql.Literal(server.web_password_file.read_text())
        cursor.execute(sql.SQL("{} ROLE {} LOGIN PASSWORD {}").format(verb, role, password))


def grant_web_role(role: str) -> None:
    """Let the role do what web processes need, and no more; repeat it after each migration.

    Raises StartupError if there is no such role, or if it may still change the audit log.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        if not _role_exists(role):
            raise StartupError(f"the database has no role {role}. Make it: CREATE ROLE {role} LOGIN PASSWORD '…'.")
        cursor.execute("SELECT current_schema()")
        schema = cursor.fetchone()[0]
        cursor.execute(SELECT_PARTITIONS)
        partitions = [name for (name,) in cursor.fetchall()]
        for statement in _grant_statements(role, schema, partitions):
            cursor.execute(statement)
        if _may_change_audit_log(role):
            raise StartupError(
                f"the role {role} could change the audit log: it or a role that it belongs to is a superuser, owns the "
                f"tables or may make some. Make a role of its own, and REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC."
            )


def describe_fault(role: str) -> str:
    """Say which rights the role lacks, or has but must not have; return "" if its rights are right."""
    if not _role_exists(role):
        return f"The database has no role {role}."
    if _may_change_audit_log(role):
        return f"The role {role} could change the audit log."
    with connection.cursor() as cursor:
        cursor.execute(SELECT_UNWRITABLE_TABLE, {"role": role, "narrow": list(NARROW_TABLES)})
        row = cursor.fetchone()
    return f"The role {role} may not write to the table {row[0]}." if row else ""


def _role_exists(role: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_roles WHERE rolname = %s", [role])
        return bool(cursor.rowcount)


def _may_change_audit_log(role: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(SELECT_RIGHT_TO_CHANGE, {"role": role})
        return bool(cursor.fetchone()[0])


def _grant_statements(role: str, schema: str, partitions: Sequence[str]) -> Iterator[sql.Composed]:
    names = {"role": sql.Identifier(role), "schema": sql.Identifier(schema)}
    for text in (
        "REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM {role}",
        "REVOKE ALL ON SCHEMA {schema} FROM {role}",
        "GRANT USAGE ON SCHEMA {schema} TO {role}",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}",
        "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {role}",
    ):
        yield sql.SQL(text).format(**names)
    # Statements name the partitioned table, so they need no rights on its partitions, nor on those made later.
    yield sql.SQL("REVOKE ALL ON {} FROM {role}").format(sql.SQL(", ").join(map(sql.Identifier, partitions)), **names)
    for table, privileges in NARROW_TABLES.items():
        yield sql.SQL("REVOKE ALL ON {} FROM {role}").format(sql.Identifier(table), **names)
        yield sql.SQL("GRANT {} ON {} TO {role}").format(sql.SQL(privileges), sql.Identifier(table), **names)
