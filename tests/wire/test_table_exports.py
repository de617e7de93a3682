"""Exports: the same rows as CSV and JSON, with nothing that a spreadsheet would run."""

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.errors import NotFound
from wire.table_exports import Table, csv_cell, stream_csv, stream_json

ROWS = [("plain", 1), ("=1+1", -5), ("with, comma", 2.5), ("line\nbreak", None)]
TABLE = Table("things", ["name", "count"], lambda: ROWS)


def body(response) -> str:
    return b"".join(response.streaming_content).decode()


def test_both_forms_hold_the_same_rows():
    as_text = list(csv.reader(io.StringIO(body(stream_csv([TABLE], "things", "f")))))
    as_objects = json.loads(body(stream_json([TABLE], {"page": "p"})))
    assert as_text[0] == ["name", "count"]
    assert len(as_text) - 1 == len(as_objects["tables"]["things"]) == len(ROWS)
    assert as_objects["tables"]["things"][0] == {"name": "plain", "count": 1}


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", " =", "\u3000@"])
def test_text_that_a_spreadsheet_would_run_is_neutralised(start):
    assert csv_cell(f"{start}cmd") == f"'{start}cmd"


@given(st.integers() | st.floats(allow_nan=False))
def test_numbers_are_never_touched(number):
    assert csv_cell(number) == number


def test_an_unknown_table_is_told_with_those_that_exist():
    with pytest.raises(NotFound) as raised:
        stream_csv([TABLE], "nothing", "f")
    assert "things" in raised.value.detail


def broken(after: int):
    def rows():
        yield from ((number,) for number in range(after))
        raise OSError("the database went away")

    return Table("t", ["n"], rows)


@pytest.mark.parametrize(
    "answer", [lambda table: stream_csv([table], None, "f"), lambda table: stream_json([table], {})]
)
def test_what_fails_before_the_answer_begins_is_no_answer(answer):
    with pytest.raises(OSError, match="went away"):
        answer(broken(after=3))


def test_a_download_that_breaks_off_says_so_in_its_last_line():
    received = []
    with pytest.raises(OSError, match="went away"):
        received.extend(stream_csv([broken(after=50_000)], None, "f").streaming_content)
    assert b"".join(received).decode().splitlines()[-1].startswith("INCOMPLETE")


def test_json_that_breaks_off_cannot_be_read():
    received = []
    with pytest.raises(OSError, match="went away"):
        received.extend(stream_json([broken(after=50_000)], {}).streaming_content)
    with pytest.raises(ValueError, match="delimiter"):
        json.loads(b"".join(received))


@given(st.integers(0, 1203))
def test_no_row_is_cut_at_any_size(size):
    table = Table("t", ["n"], lambda: ((n,) for n in range(size)))
    assert [row["n"] for row in json.loads(body(stream_json([table], {})))["tables"]["t"]] == list(range(size))
    assert len(body(stream_csv([table], None, "f")).splitlines()) == size + 1
