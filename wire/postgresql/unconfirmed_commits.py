"""Distinguish a statement that the database refused from a statement whose commit it did not confirm."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from django.db import Error, OperationalError, transaction


class CommitUnconfirmed(OperationalError):
    """The database did not answer a COMMIT, or a statement that is a transaction of its own."""


@contextmanager
def confirm_commit() -> Iterator[None]:
    """Commit within this block. Raises CommitUnconfirmed if the connection breaks before the database has answered."""
    try:
        yield
    except Error as error:
        if is_refusal(error):
            raise
        raise CommitUnconfirmed from error.__cause__


def confirm_statement() -> AbstractContextManager[None]:
    """Run one statement that writes. Outside a transaction, it also commits, so `confirm_commit` watches it."""
    return confirm_commit() if transaction.get_autocommit() else nullcontext()


def is_refusal(error: Error) -> bool:
    """Return whether the database refused a statement and kept the connection: then the statement stored nothing."""
    diagnosis = getattr(error.__cause__, "diag", None)
    return getattr(diagnosis, "severity_nonlocalized", None) == "ERROR"


def is_unconfirmed(error: BaseException | None) -> bool:
    """Return whether a commit was not confirmed: this error, or one that occurred before it, is CommitUnconfirmed."""
    while error and not isinstance(error, CommitUnconfirmed):
        error = error.__context__
    return error is not None
