"""A database that no hub has used yet, not even to migrate it."""

from __future__ import annotations

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from hub.local.startup_errors import UnusedDatabase


def is_unused() -> bool:
    """Return whether nobody has used this database yet, not even to migrate it."""
    return not MigrationRecorder(connection).has_table()


def refuse_unused_database() -> None:
    """Raise UnusedDatabase if nobody has used this database yet: it is probably not that of the hub."""
    if is_unused():
        raise UnusedDatabase
