"""Refuse an empty database while the data of the embedded one were not moved into it."""

from __future__ import annotations

from django.conf import settings
from django.db import connection
from psycopg import sql

from hub.local.postgresql.server import Server
from hub.local.startup_errors import StartupError

MIGRATION_TABLES = {"auth_permission", "django_content_type", "django_migrations"}


def refuse_forgotten_data() -> None:
    """Refuse an empty database if the data directory has an embedded one whose data were not moved."""
    cluster = Server(settings.HUB_DATA_DIR).cluster
    if settings.DATABASE_URL and not settings.HUB_START_EMPTY and cluster.exists() and is_empty():
        raise StartupError(
            f"DATABASE_URL: the database is empty, but {cluster} holds data. Move them with `manage.py move_database`, "
            "or set HUB_START_EMPTY=true to begin without them."
        )


def is_empty() -> bool:
    """Return whether the database has no rows other than those that migrations write."""
    tables = {*connection.introspection.table_names()} - MIGRATION_TABLES
    has_rows = [sql.SQL("EXISTS (SELECT FROM {})").format(sql.Identifier(table)) for table in sorted(tables)]
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("SELECT {}").format(sql.SQL(" OR ").join([sql.SQL("false"), *has_rows])))
        return not cursor.fetchone()[0]
