"""A migration that has to wait for a lock lets others go first: nobody waits behind it for long."""

from __future__ import annotations

import threading
import time

import pytest
from django.core.management import call_command
from django.core.management.commands.migrate import Command as Migrate
from django.db import OperationalError, connection, transaction

from hub.local.database import run_migrations, short_lock_waits
from hub.local.database.short_lock_waits import retry_while_locked


@pytest.fixture
def table(transactional_db, monkeypatch):
    monkeypatch.setattr(short_lock_waits, "LONGEST_WAIT", "50ms")
    monkeypatch.setattr(short_lock_waits, "PAUSE", 0.1)
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE busy (x integer)")
        yield
        cursor.execute("DROP TABLE busy")


@pytest.fixture
def reader(table):
    """Read the table in a transaction that stays open until its end."""
    other = connection.copy()
    other.set_autocommit(False)
    with other.cursor() as cursor:
        cursor.execute("SELECT FROM busy")
    yield other
    other.close()


def read_elsewhere() -> float:
    """Read the table through another connection; return how long that took."""
    other = connection.copy()
    started_at = time.monotonic()
    with other.cursor() as cursor:
        cursor.execute("SELECT FROM busy")
    other.close()
    return time.monotonic() - started_at


def add_column() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE busy ADD COLUMN y integer")


@pytest.mark.parametrize("in_transaction", [True, False])
def test_others_read_while_the_change_waits_for_an_older_reader(reader, caplog, in_transaction):
    def migrate() -> None:
        if in_transaction:
            with transaction.atomic():
                add_column()
        else:
            add_column()

    threading.Timer(0.6, reader.connection.close).start()
    waits: list[float] = []
    watcher = threading.Timer(0.1, lambda: waits.extend(read_elsewhere() for _ in range(5)))
    watcher.start()
    retry_while_locked(migrate)
    watcher.join()
    assert max(waits) < 0.4  # not the whole 0.6 s for which the older reader stays
    assert "waits until" in caplog.text


def test_another_error_is_raised(table):
    def fail() -> None:
        raise OperationalError("disk full")

    with pytest.raises(OperationalError, match="disk full"):
        retry_while_locked(fail)


def test_an_index_made_concurrently_may_wait_for_older_transactions(reader):
    """It keeps nobody waiting, and would be left invalid if its wait ended."""
    with reader.cursor() as cursor:
        cursor.execute("LOCK TABLE busy IN SHARE UPDATE EXCLUSIVE MODE")
    threading.Timer(0.3, reader.connection.close).start()
    statements = []

    def create_index() -> None:
        statements.append("CREATE INDEX CONCURRENTLY busy_x ON busy (x)")
        with connection.cursor() as cursor:
            cursor.execute(statements[-1])

    retry_while_locked(create_index)
    assert len(statements) == 1


def test_the_limit_ends_with_the_change(table):
    retry_while_locked(add_column)
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("0",)


@pytest.mark.parametrize("migrate", [run_migrations.migrate, lambda: call_command("migrate", verbosity=0)])
def test_every_way_to_migrate_tries_again(reader, monkeypatch, caplog, migrate):
    monkeypatch.setattr(run_migrations, "count_pending_migrations", lambda: 1)
    monkeypatch.setattr(Migrate, "handle", lambda *_, **__: add_column())
    threading.Timer(0.3, reader.connection.close).start()
    migrate()
    assert "waits until" in caplog.text
