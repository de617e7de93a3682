"""Moments as texts and as numbers: Unix seconds or milliseconds on the wire (contract §1)."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

MILLISECONDS_FROM = 1e11  # a time of at least this value is in milliseconds, a smaller one in seconds
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)  # no reported time is earlier
MAX_AHEAD = timedelta(days=1)  # no reported time is further in the future (contract §1)
LATEST = datetime(9999, 1, 1, tzinfo=UTC)  # every time zone has a clock time for it


def unix_seconds(moment: datetime) -> int:
    """Return whole Unix seconds, as in every answer."""
    return int(moment.timestamp())


def round_to_units(length: timedelta, unit: timedelta = timedelta(seconds=1)) -> int:
    """Return a length in whole units, rounded half up: the rule for every length on a page or in a download."""
    return (length + unit / 2) // unit


def cut_to_second(moment: datetime) -> datetime:
    """Return the beginning of a moment's second, to compare it with reported times, which may be whole seconds."""
    return moment.replace(microsecond=0)


def moment_from_unix(number: float) -> datetime:
    """Return the moment of Unix seconds, or of milliseconds from 1e11 on, in UTC.

    Raises ValueError, OverflowError or OSError for a number that is no time in the years 1 to 9999.
    """
    return datetime.fromtimestamp(number / 1000 if abs(number) >= MILLISECONDS_FROM else number, UTC)


def is_reportable(moment: datetime, now: datetime) -> bool:
    """Return whether a report of now may name this moment."""
    return EARLIEST <= moment <= now + MAX_AHEAD


def parse_moment(text: str) -> datetime:
    """Return the moment of a date and a time in ISO 8601; without an offset it is UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def read_moment(query: Mapping[str, str], name: str) -> datetime | None:
    """Return one member of an address as a moment; None unless it can be read, has a time zone and can be shown."""
    try:
        moment = datetime.fromisoformat(query.get(name, ""))
        return moment if moment.tzinfo and EARLIEST <= moment.astimezone(UTC) <= LATEST else None
    except (ValueError, OverflowError):
        return None
