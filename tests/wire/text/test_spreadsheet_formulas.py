"""No text of an export is one that a spreadsheet would execute, and numbers are never touched."""

import csv
import io
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.table_exports import Table, format_cell, stream_csv

pytestmark = pytest.mark.django_db  # exports are read in a transaction

RUNS = tuple("=+-@＝＋－＠")
# Texts of the characters that decide whether a spreadsheet executes a cell: signs, separators, quotes, spaces, letters
texts = st.text(st.sampled_from([*RUNS, *";,|\t\r\n\"' \u3000aé"]), max_size=12) | st.text(max_size=12)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.decimals(allow_nan=False, places=3)
values = st.none() | numbers | texts | st.lists(texts | st.integers()) | st.dictionaries(texts, st.integers())


def csv_of(*rows) -> str:
    columns = [f"c{number}" for number in range(len(rows[0]))]
    return b"".join(stream_csv([Table("t", columns, lambda: rows)], None, "f").streaming_content).decode()


def runs(cell: str) -> bool:
    """Return whether a spreadsheet would execute the content of a cell."""
    return cell.lstrip(' "\u3000\t\r\n').startswith(RUNS)


@given(st.lists(st.tuples(texts, values, values), min_size=1))
def test_no_text_is_executed_by_a_spreadsheet_that_splits_at_commas(rows):
    _, *read = csv.reader(io.StringIO(csv_of(*rows), newline=""))
    assert [len(cells) for cells in read] == [3] * len(rows)
    for row, cells in zip(rows, read, strict=True):
        for value, cell in zip(row, cells, strict=True):
            if isinstance(value, str):
                assert not runs(cell)
                assert not cell.startswith(("\t", "\r", "\n"))
                assert cell.replace("'", "") == value.replace("'", "")
            elif isinstance(value, dict) and value:
                assert not runs(cell)
                text = ", ".join(f"{name}:{count}" for name, count in value.items())
                assert cell.replace("'", "") == text.replace("'", "")
            elif isinstance(value, list | dict):
                assert not runs(cell)
                assert json.dumps(json.loads(cell)).replace("'", "") == json.dumps(value).replace("'", "")


@given(st.lists(st.tuples(texts, values, texts), min_size=1))
def test_no_text_is_executed_by_a_spreadsheet_that_splits_at_semicolons(rows):
    for cells in csv.reader(io.StringIO(csv_of(*rows), newline=""), delimiter=";"):
        assert not [cell for cell in cells if runs(cell)]


@pytest.mark.parametrize("delimiter", [",", ";"])
@given(st.lists(numbers, min_size=1))
def test_numbers_are_never_touched(delimiter, row):
    _, cells = csv.reader(io.StringIO(csv_of(row)), delimiter=delimiter)
    assert ",".join(cells) == ",".join(map(str, row))


@pytest.mark.parametrize(
    "start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", " =", "\u3000@", '"=', "a;=", 'a; "=', "a,@"]
)
def test_text_that_a_spreadsheet_would_execute_is_neutralised(start):
    cell = format_cell(f"{start}cmd")
    assert "'" in cell
    assert cell.startswith('"')


def test_a_long_cell_of_separators_is_neutralised_in_one_pass():
    started_at = time.process_time()
    format_cell(";" * 200_000 + "\t " * 200_000 + '"' * 200_000)
    assert time.process_time() - started_at < 2
