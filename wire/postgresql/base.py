"""Django's PostgreSQL backend, which raises CommitUnconfirmed if a transaction may or may not be committed."""

from __future__ import annotations

import math
import select
import time
from typing import Any

from django.db.backends.postgresql import base
from psycopg import OperationalError, ProgrammingError

from wire.postgresql.unconfirmed_commits import confirm_commit

TRUSTED_FOR = 1.0
"""For this many seconds after it was opened or tested, a connection counts as working without another test."""

FORMATS = {"DateStyle": "ISO, MDY", "IntervalStyle": "postgres", "standard_conforming_strings": "on"}
"""The formats that psycopg and our SQL need. A database or a role may set others."""


class DatabaseWrapper(base.DatabaseWrapper):
    _answered_at = -math.inf

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect, and note the time of the server's answer."""
        try:
            connection = super().get_new_connection(conn_params)
        except ProgrammingError as error:  # an option that libpq does not know
            raise OperationalError(str(error).strip()) from error
        self._answered_at = time.monotonic()
        return connection

    def _configure_connection(self, connection: Any) -> bool:
        """Set the formats that differ, as Django sets the time zone; return whether something was set.

        The server reports these settings when it accepts a connection, so none is asked for.
        """
        is_changed: bool = super()._configure_connection(connection)  # type: ignore[misc]  # the stubs leave it out
        changes = {name: value for name, value in FORMATS.items() if connection.info.parameter_status(name) != value}
        for name, value in changes.items():
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config(%s, %s, false)", [name, value])
        return is_changed or bool(changes)

    def chunked_cursor(self) -> Any:
        """Return the cursor of a query that is read a few rows at a time; outside a transaction, an ordinary one.

        The server would keep a cursor for the session, which a pooler in transaction mode has given to somebody else by
        the next statement. allauth, for one, reads people outside a transaction.
        """
        return self.cursor() if self.get_autocommit() else super().chunked_cursor()

    def is_usable(self) -> bool:
        """Return whether the connection works.

        If the connection was opened or tested just now, Django's test is left out: under load, it takes a third as
        long as the statements of a short request.
        """
        if self._is_trusted():
            return True
        if not super().is_usable():
            return False
        self._answered_at = time.monotonic()
        return True

    def _is_trusted(self) -> bool:
        """Return whether the connection was opened or tested just now, and nothing failed or arrived since.

        A server that ends a connection sends a message first, so there would be something to read.
        """
        if self.connection is None or self.errors_occurred or time.monotonic() > self._answered_at + TRUSTED_FOR:
            return False
        return not self.connection.closed and not _has_input(self.connection)

    def _commit(self) -> None:
        """Commit. Raises CommitUnconfirmed."""
        with confirm_commit():
            super()._commit()  # type: ignore[misc]  # the stubs leave it out


def _has_input(connection: Any) -> bool:
    """Return whether the server has sent something, or closed the connection."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))
