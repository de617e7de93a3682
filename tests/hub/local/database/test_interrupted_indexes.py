"""An index whose creation was interrupted is dropped, so that the migration creates it again."""

from __future__ import annotations

import threading
import time

import pytest
from django.db import connection

from hub.local.database import run_migrations
from hub.local.database.interrupted_indexes import drop_interrupted_indexes

SELECT_INDEXES = """
SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE indrelid = 'unfinished'::regclass ORDER BY relname
"""


@pytest.fixture
def table(transactional_db):
    """Make a table in which the creation of a unique index fails, as if it had been interrupted."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE unfinished (x integer)")
        cursor.execute("INSERT INTO unfinished VALUES (1), (1)")
        yield cursor
        cursor.execute("DROP TABLE unfinished")


def interrupt_index(cursor, name: str) -> None:
    with pytest.raises(Exception, match="could not create unique index"):
        cursor.execute(f"CREATE UNIQUE INDEX CONCURRENTLY {name} ON unfinished (x)")


def list_indexes(cursor) -> list[tuple[str, bool]]:
    cursor.execute(SELECT_INDEXES)
    return cursor.fetchall()


def test_only_what_was_interrupted_is_dropped(table):
    table.execute("CREATE INDEX complete ON unfinished (x)")
    interrupt_index(table, '"Interrupted"')
    assert list_indexes(table) == [("Interrupted", False), ("complete", True)]
    drop_interrupted_indexes()
    assert list_indexes(table) == [("complete", True)]


def test_an_index_that_somebody_still_creates_is_left_to_them(table):
    """The server may go on creating an index although the migration that began it was killed."""
    interrupt_index(table, "interrupted")
    other = connection.copy()
    other.set_autocommit(False)
    with other.cursor() as cursor:
        cursor.execute("LOCK TABLE unfinished IN SHARE UPDATE EXCLUSIVE MODE")  # as whoever creates an index does
    release = threading.Timer(0.3, other.connection.close)
    release.start()
    started_at = time.monotonic()
    drop_interrupted_indexes()
    release.join()
    assert time.monotonic() - started_at > 0.2
    assert list_indexes(table) == []


def test_migrations_begin_with_it(table, monkeypatch):
    monkeypatch.setattr(run_migrations, "count_pending_migrations", lambda: 1)
    interrupt_index(table, "interrupted")
    run_migrations.migrate()
    assert list_indexes(table) == []
