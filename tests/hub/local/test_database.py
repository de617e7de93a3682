"""A database is refused whose server is too old, and one that the next start has to upgrade."""

from __future__ import annotations

import pytest
from django.db import connection

from hub.local import database
from hub.local.startup_errors import StartupError


@pytest.mark.django_db
def test_a_server_of_the_oldest_supported_version_is_accepted_and_an_older_one_refused(monkeypatch):
    major = connection.pg_version // 10_000
    monkeypatch.setattr(database, "OLDEST_POSTGRES", major)
    database.check_server_version()
    monkeypatch.setattr(database, "OLDEST_POSTGRES", major + 1)
    with pytest.raises(StartupError, match="DATABASE_URL: the server is older than PostgreSQL"):
        database.check_server_version()


@pytest.mark.django_db
def test_a_command_does_not_migrate_a_database_that_needs_an_upgrade(monkeypatch):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'outcomes'")
    monkeypatch.setattr(database, "migrate", lambda: pytest.fail("migrated beneath a running hub"))
    with pytest.raises(StartupError, match="older version"):
        database.prepare_unused_database()
