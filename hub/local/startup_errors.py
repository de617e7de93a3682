"""The error that keeps the hub from starting. The module imports no package, because the supervisor loads none."""

from __future__ import annotations

TAKES_NO_CHANGES = (
    "DATABASE_URL: the database takes no changes: it is a replica, or default_transaction_read_only is on. Name the "
    "primary, or turn that off."
)


class StartupError(Exception):
    """The hub refuses to start; the message says why and what to do."""


class UnusedDatabase(StartupError):
    """A command works only with the database of a hub, and nobody has used this one yet."""

    def __init__(self) -> None:
        super().__init__("no hub has used this database yet. Set HUB_DATA_DIR or DATABASE_URL as for the hub.")
