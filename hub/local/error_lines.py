"""Errors at the start of the hub: one clear line, never a traceback."""

from __future__ import annotations

import errno
from collections.abc import Sequence

from django.conf import settings
from django.db import DatabaseError, Error, OperationalError
from environs import EnvError

from hub.local.startup_errors import TAKES_NO_CHANGES, StartupError
from wire.postgresql.sqlstates import INSUFFICIENT_PRIVILEGE, UNDEFINED_TABLE, read_sqlstate

OWN_FOLDER = "Set HUB_DATA_DIR to a folder of your own that can be written."
CURES = {
    errno.ENOSPC: "Free space there, or set HUB_DATA_DIR to a folder with more.",
    errno.EDQUOT: "Free space there, or set HUB_DATA_DIR to a folder with more.",
    errno.EACCES: OWN_FOLDER,
    errno.EPERM: OWN_FOLDER,
    errno.EROFS: OWN_FOLDER,
}
EXPECTED_ERRORS = (StartupError, EnvError, OperationalError, OSError)
NO_TABLES = (
    "affidavit: the database lacks tables of this version of the hub. Set HUB_DATA_DIR or DATABASE_URL as for the hub; "
    "if they are right, start the hub once."
)
REFUSALS = {  # by SQLSTATE
    UNDEFINED_TABLE: NO_TABLES,
    "42703": NO_TABLES,  # no such column
    INSUFFICIENT_PRIVILEGE: (
        "affidavit: DATABASE_URL: this user of the database may not do this. Name the user who owns the tables."
    ),
    "25006": f"affidavit: {TAKES_NO_CHANGES}",
}

NOT_UTF_8 = "affidavit: an argument is not text in UTF-8. Check the encoding of your terminal."


def is_about_arguments(error: UnicodeEncodeError, arguments: Sequence[str]) -> bool:
    """Return whether a text could not be encoded because an argument of the command is not UTF-8."""
    character = error.object[error.start]
    return "\ud800" <= character <= "\udfff" and any(character in argument for argument in arguments)


def describe_refusal(error: DatabaseError) -> str:
    """Say in one line why the database does not let a command do its work; return "" if the command itself is wrong."""
    return REFUSALS.get(read_sqlstate(error), "")


def format_error(error: BaseException) -> str:
    """Say in one line what is wrong and what to do. `error` is one of EXPECTED_ERRORS."""
    match error:
        case StartupError():
            return f"affidavit: {error}"
        case EnvError():
            return f"affidavit: {' '.join(str(error).split())} See docs/settings.md."
        case OperationalError():
            return f"affidavit: {describe_database_error(error)}"
        case OSError():
            path = f"{error.filename}: " if error.filename else ""
            cure = CURES.get(error.errno or 0, "Look at that file or folder, or set HUB_DATA_DIR to another one.")
            return f"affidavit: {path}{error.strerror or error}. {cure}"
    raise error


def describe_database_error(error: OperationalError) -> str:
    """Say why the database cannot be reached, or that it failed; repeat its message only if connecting failed."""
    if read_sqlstate(error):  # the database was reached, and its message may repeat a statement
        return f"the database failed ({type(error.__cause__).__name__}). Look into its log."
    reason = find_reason(str(error))
    if not settings.DATABASE_URL and "password" in reason:
        return (
            f"the embedded PostgreSQL cannot be reached: {reason}. postgres.password in HUB_DATA_DIR is missing or not "
            "that of postgres/. Put the right file back, or restore a backup into another HUB_DATA_DIR."
        )
    if not settings.DATABASE_URL:
        return f"the embedded PostgreSQL cannot be reached: {reason}. Look into postgres.log in HUB_DATA_DIR."
    is_about_tls = "pg_hba" not in reason and ("certificate" in reason or "ssl" in reason.lower())
    cure = (
        "Correct PGSSLMODE and PGSSLROOTCERT, or the server's certificate."
        if is_about_tls
        else "Start that PostgreSQL, or correct the address."
    )
    return f"DATABASE_URL: cannot be reached: {reason}. {cure}"


def describe_connection_error(error: Error) -> str:
    """Say why another database cannot be used: the reason why connecting failed, or else only the kind of the error."""
    was_reached = bool(read_sqlstate(error))  # its message may repeat a statement
    return type(error.__cause__ or error).__name__ if was_reached else find_reason(str(error))


def find_reason(message: str) -> str:
    """Return why the last attempt to connect failed, out of a message by the driver, which may add hints to it."""
    lines = [line for line in message.splitlines() if line and not line[0].isspace()] or ["no connection"]
    attempts = [line for line in lines if "failed: " in line]
    line = (attempts or lines)[-1].rpartition("failed: ")[2]
    return line.removeprefix("connection is bad: ").removeprefix("FATAL:").strip().rstrip(".")
