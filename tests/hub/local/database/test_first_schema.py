"""An unused database gets its tables from a file. They are the same tables as the migrations make."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from hub.local.database.first_schema import SCHEMA_FILE, load_first_schema
from tests.first_schema import dump, dump_migrated, scratch_database

ROWS = """
SELECT app, name FROM django_migrations UNION ALL SELECT app_label, model FROM django_content_type ORDER BY 1, 2
"""


@pytest.fixture
def unblock_database(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Let a test change the connection, outside of any transaction."""
    with django_db_blocker.unblock():
        yield
        connection.close()


def fetch_rows() -> list[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(ROWS)
        return cursor.fetchall()


def normalize(tables: str) -> str:
    """Load a dump and dump it again, because the second dump has all conditions in their final form."""
    with scratch_database():
        with connection.cursor() as cursor:
            cursor.execute(tables)
        return dump("--schema-only")


@pytest.mark.xdist_group("first schema")
def test_the_schema_file_plus_later_migrations_equals_all_migrations(unblock_database):
    with scratch_database():
        call_command("migrate", verbosity=0)
        tables, rows = dump("--schema-only"), fetch_rows()
        load_first_schema()  # this must not change a database that is in use
        assert fetch_rows() == rows
    assert normalize(tables) == normalize(dump_migrated()[0])
    assert "INSERT INTO public.django_migrations" in SCHEMA_FILE.read_text()


@pytest.mark.xdist_group("first schema")
def test_an_external_database_is_made_by_migrations_alone(unblock_database, settings):
    settings.DATABASE_URL = "postgresql://elsewhere/hub"
    with scratch_database():
        load_first_schema()
        assert connection.introspection.table_names() == []
