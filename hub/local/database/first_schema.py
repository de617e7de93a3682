"""Create the tables of an unused database at once. The migrations would take ten times as long.

`make schema` writes the file. It may be older than the migrations: those that it lacks run after it.
"""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder

SCHEMA_FILE = Path(__file__).with_suffix(".sql")


def load_first_schema() -> None:
    """Make all tables of an unused database of the embedded server; other databases change by migrations alone."""
    if settings.DATABASE_URL or MigrationRecorder(connection).has_table():
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(SCHEMA_FILE.read_bytes().decode())  # byte for byte, because an index contains a carriage return
