"""Statements that a connection's server plans once: for the few whose planning takes longer than their work."""

from __future__ import annotations

from django.db import connection
from django.db.backends.postgresql.base import ServerBindingCursor
from django.db.backends.utils import CursorWrapper


def prepared_cursor() -> CursorWrapper:
    """A cursor that prepares what it executes, where DATABASE_PREPARE allows it; parameters need casts where in doubt.

    Use it for statements of a fixed text whose best plan does not depend on their parameters.
    """
    connection.ensure_connection()
    return connection.make_cursor(ServerBindingCursor(connection.connection))
