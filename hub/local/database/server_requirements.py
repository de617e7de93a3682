"""What the hub requires of a PostgreSQL server: its version, its encoding, and that it takes changes."""

from __future__ import annotations

from typing import cast

from django.db import NotSupportedError, connection
from django.db.backends.postgresql.base import DatabaseWrapper

from hub.local.startup_errors import TAKES_NO_CHANGES, StartupError

OLDEST_POSTGRES = 15


def check_server_version() -> None:
    """Raise StartupError if the server is too old, or the database takes no changes or cannot hold every character."""
    try:
        major = cast(DatabaseWrapper, connection).pg_version // 10_000
    except NotSupportedError:  # Django itself refuses still older servers
        major = 0
    if major < OLDEST_POSTGRES:
        raise StartupError(f"DATABASE_URL: the server is older than PostgreSQL {OLDEST_POSTGRES}. Name a newer one.")
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_encoding'), current_setting('transaction_read_only')")
        encoding, read_only = cursor.fetchone()
        if read_only == "on":
            raise StartupError(TAKES_NO_CHANGES)
        if encoding != "UTF8":
            raise StartupError("DATABASE_URL: the database's encoding is not UTF8. Create it with ENCODING 'UTF8'.")
