"""The position of a page in a list is read back from its text, and no other text is a position."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from wire.list_position import ListPosition, parse_position, parse_row_number

AT = datetime(2026, 11, 22, 14, 5, 0, 123456, tzinfo=UTC)
ROW_ID = UUID("0197c4a1-0000-7000-8000-00000000000f")


@pytest.mark.parametrize(
    ("position", "text", "parse_id"),
    [
        (ListPosition(AT, 17), "1795356300123456-17", parse_row_number),
        (ListPosition(AT, ROW_ID), "1795356300123456-0197c4a100007000800000000000000f", UUID),
    ],
)
def test_a_position_is_read_back_from_its_text(position, text, parse_id):
    assert str(position) == text
    assert parse_position(text, parse_id) == position


@pytest.mark.parametrize(
    "text", ["", "x", "1", "1-", "-1", "-", "1-x", "1--1", "9" * 18 + "-1", "1-" + "9" * 19, "１-1", "1-１", "²-²"]
)
@pytest.mark.parametrize("parse_id", [parse_row_number, UUID])
def test_no_other_text_is_a_position(text, parse_id):
    assert parse_position(text, parse_id) is None
