"""Moments in the form of the wire (contract 1)."""

from datetime import UTC, datetime

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)  # no reported time is earlier


def unix_seconds(moment: datetime) -> int:
    """Return whole Unix seconds, as in every answer."""
    return int(moment.timestamp())
