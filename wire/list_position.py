"""The position of a page in a list, the latest first: the time and the id of the row that the page follows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

RowId = TypeVar("RowId")

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAX_TIME_DIGITS = 17  # of a time in microseconds; enough until the year 5000
MAX_ID_DIGITS = 18  # of a number that fits into a bigint


class ListPosition(NamedTuple, Generic[RowId]):
    """The row after which a page begins. As text, which addresses have, it is `MICROSECONDS-ID`."""

    moment: datetime
    row_id: RowId

    def __str__(self) -> str:
        row_id = self.row_id.hex if isinstance(self.row_id, UUID) else self.row_id
        return f"{(self.moment - EPOCH) // timedelta(microseconds=1)}-{row_id}"


def parse_position(text: str, parse_id: Callable[[str], RowId]) -> ListPosition[RowId] | None:
    """Read the text of a position; None if it cannot be read.

    parse_id: reads the id or raises ValueError: `parse_row_number` or UUID.
    """
    microseconds, _, row_id = text.partition("-")
    try:
        moment = EPOCH + timedelta(microseconds=_parse_digits(microseconds, MAX_TIME_DIGITS))
        return ListPosition(moment, parse_id(row_id))
    except ValueError:
        return None


def parse_row_number(text: str) -> int:
    """Return the id of a row that has a number; raises ValueError."""
    return _parse_digits(text, MAX_ID_DIGITS)


def _parse_digits(text: str, max_digits: int) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > max_digits:
        raise ValueError(text)
    return int(text)
