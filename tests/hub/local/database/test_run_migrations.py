"""A start and the command `migrate` say the same about a database in which they may make no tables."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db.migrations.exceptions import MigrationSchemaMissing

from hub.local.database import run_migrations
from hub.local.startup_errors import StartupError


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("work", [run_migrations.migrate, lambda: call_command("migrate", verbosity=0)])
def test_a_user_who_may_not_make_tables_is_refused_in_one_line(monkeypatch, work):
    def refuse() -> None:
        raise MigrationSchemaMissing("Unable to create the django_migrations table")

    monkeypatch.setattr(run_migrations, "load_first_schema", refuse)
    with pytest.raises(StartupError, match=r"^DATABASE_URL: this user may not make tables\."):
        work()
