"""Prepared statements, for the few statements whose planning takes longer than their execution."""

from __future__ import annotations

from typing import cast

from django.db import connection
from django.db.backends.postgresql.base import ServerBindingCursor
from django.db.backends.utils import CursorWrapper


def open_prepared_cursor() -> CursorWrapper:
    """Open a cursor that prepares what it executes, if DATABASE_PREPARE allows it.

    Use it for statements of a fixed text whose best plan does not depend on their parameters. Parameters need casts if
    their type is in doubt.
    """
    connection.close_if_health_check_failed()  # as Django does for its own cursors: at most one test per request
    connection.ensure_connection()
    # Django's stubs know neither that this class is psycopg's cursor nor that make_cursor wraps any cursor.
    cursor = ServerBindingCursor(connection.connection)  # type: ignore[call-arg]
    return connection.make_cursor(cast(CursorWrapper, cursor))
