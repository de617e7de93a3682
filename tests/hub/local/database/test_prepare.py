"""A command refuses a database that the next start has to upgrade."""

from __future__ import annotations

import pytest
from django.db import connection

from hub.local.database import prepare
from hub.local.startup_errors import StartupError


@pytest.mark.django_db
def test_a_command_does_not_migrate_a_database_that_needs_an_upgrade(monkeypatch):
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'outcomes'")
    monkeypatch.setattr(prepare, "migrate", lambda: pytest.fail("migrated beneath a running hub"))
    with pytest.raises(StartupError, match="older version"):
        prepare.prepare_unused_database()
