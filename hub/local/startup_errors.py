"""What the server cannot start with: one clear line, never a traceback."""

from __future__ import annotations

from django.conf import settings
from django.db import OperationalError
from environs import EnvError


class Refusal(Exception):
    """Starting was refused; the message says why and what to do."""


TOLD = (Refusal, EnvError, OperationalError, OSError)


def line(error: BaseException) -> str:
    """What a person reads of one of TOLD: what is wrong, by the name of its setting, and what to do."""
    match error:
        case Refusal():
            return f"affidavit: {error}"
        case EnvError():
            return f"affidavit: {' '.join(str(error).split())} See docs/settings.md."
        case OperationalError():
            return f"affidavit: {of_database(error)}"
        case OSError():
            place = f"{error.filename}: " if error.filename else ""
            cure = "Free space, or set HUB_DATA_DIR to a folder of your own."
            return f"affidavit: {place}{error.strerror or error}. {cure}"
    raise error


def of_database(error: OperationalError) -> str:
    """A database that cannot be reached, or that gave up; of what it says only the words about connecting."""
    if getattr(error.__cause__, "sqlstate", None):  # it was reached, and its words may repeat a statement
        return f"the database gave up ({type(error.__cause__).__name__}). Look into its log."
    said = [text for text in str(error).splitlines() if text and not text[0].isspace()] or ["no connection"]
    reason = said[-1].rpartition("failed: ")[2].removeprefix("FATAL:").strip()
    if not settings.DATABASE_URL:
        return f"the embedded PostgreSQL cannot be reached: {reason}. Look into postgres.log in HUB_DATA_DIR."
    return f"DATABASE_URL: cannot be reached: {reason}. Start that PostgreSQL, or mend the address."
