"""Django's PostgreSQL, whose transactions say when it is not known whether they were committed."""

from __future__ import annotations

from django.db.backends.postgresql import base

from wire.postgresql.confirm import confirm_commit


class DatabaseWrapper(base.DatabaseWrapper):
    def _commit(self) -> None:
        """Raises CommitUnconfirmed."""
        with confirm_commit():
            super()._commit()  # type: ignore[misc]  # the stubs leave it out
