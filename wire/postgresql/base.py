"""Django's PostgreSQL backend, which raises CommitUnconfirmed if a transaction may or may not be committed."""

from __future__ import annotations

import math
import select
import time
from typing import Any

from django.db.backends.postgresql import base
from psycopg import OperationalError, ProgrammingError

from wire.postgresql.confirm import confirm_commit

TRUSTED_FOR = 1.0
"""For this many seconds after it was opened or tested, a connection counts as working without another test."""


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
