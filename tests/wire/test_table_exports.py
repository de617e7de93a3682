"""Exports have the same rows as CSV and JSON, and no text that a spreadsheet would execute."""

import csv
import io
import json
import time
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from wire.errors import NotFound
from wire.table_exports import Table, format_cell, stream_csv, stream_json

pytestmark = pytest.mark.django_db  # exports are read in a transaction
ROWS = [("plain", 1), ("=1+1", -5), ("with, comma", 2.5), ("line\nbreak", None)]
TABLE = Table("things", ["name", "count"], lambda: ROWS)


def body(response) -> str:
    return b"".join(response.streaming_content).decode()


def test_both_formats_have_the_same_rows():
    as_text = list(csv.reader(io.StringIO(body(stream_csv([TABLE], "things", "f")))))
    as_objects = json.loads(body(stream_json([TABLE], {"page": "p"})))
    assert as_text[0] == ["name", "count"]
    assert len(as_text) - 1 == len(as_objects["tables"]["things"]) == len(ROWS)
    assert as_objects["tables"]["things"][0] == {"name": "plain", "count": 1}


def test_the_name_of_a_file_says_page_table_and_period_and_nothing_twice():
    def name(page, table, **period):
        return stream_csv([Table(table, ["n"], list)], None, page, **period)["Content-Disposition"].split('"')[1]

    assert name("shop-production-outcomes", "keys", period="7d") == "shop-production-outcomes-keys-7d.csv"
    assert name("shop-production-keys", "keys") == "shop-production-keys.csv"
    assert name("shop-production-toolcalls", "toolCalls", period="7d") == "shop-production-toolcalls-7d.csv"


RUNS = tuple("=+-@＝＋－＠")
# Texts of the characters that decide whether a spreadsheet executes a cell: signs, separators, quotes, spaces, letters
texts = st.text(st.sampled_from([*RUNS, *";,|\t\r\n\"' \u3000aé"]), max_size=12) | st.text(max_size=12)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.decimals(allow_nan=False, places=3)
values = st.none() | numbers | texts | st.lists(texts | st.integers()) | st.dictionaries(texts, st.integers())


def csv_of(*rows) -> str:
    columns = [f"c{number}" for number in range(len(rows[0]))]
    return body(stream_csv([Table("t", columns, lambda: rows)], None, "f"))


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


def test_counts_by_name_are_written_in_words():
    cell = '"expired:15, args-mismatch:2"'
    assert csv_of(({"expired": 15, "args-mismatch": 2},)).splitlines()[1] == cell


@pytest.mark.parametrize("delimiter", [",", ";"])
@given(st.lists(numbers, min_size=1))
def test_numbers_are_never_touched(delimiter, row):
    _, cells = csv.reader(io.StringIO(csv_of(row)), delimiter=delimiter)
    assert ",".join(cells) == ",".join(map(str, row))


def test_truth_values_are_written_as_in_json():
    assert csv_of((True, False, None, [True])).splitlines()[1] == 'true,false,,"[true]"'


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


def test_an_unknown_table_is_refused_with_those_that_exist():
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
def test_a_failure_before_the_first_byte_is_an_error_and_no_download(answer):
    with pytest.raises(OSError, match="went away"):
        answer(broken(after=3))


def test_a_broken_download_says_so_in_its_last_line():
    received = []
    with pytest.raises(OSError, match="went away"):
        received.extend(stream_csv([broken(after=50_000)], None, "f").streaming_content)
    assert b"".join(received).decode().splitlines()[-1].startswith("INCOMPLETE")


def test_broken_json_cannot_be_parsed():
    received = []
    with pytest.raises(OSError, match="went away"):
        received.extend(stream_json([broken(after=50_000)], {}).streaming_content)
    with pytest.raises(ValueError, match="delimiter"):
        json.loads(b"".join(received))


@given(st.integers(0, 1203))
def test_rows_of_any_size_are_complete(size):
    table = Table("t", ["n"], lambda: ((n,) for n in range(size)))
    assert [row["n"] for row in json.loads(body(stream_json([table], {})))["tables"]["t"]] == list(range(size))
    assert len(body(stream_csv([table], None, "f")).splitlines()) == size + 1


@pytest.mark.django_db(transaction=True)
def test_an_answer_that_is_not_read_to_its_end_leaves_no_transaction_open():
    many = Table("t", ["n"], lambda: ((n,) for n in range(100_000)))
    response = stream_csv([many], None, "f")
    assert connection.in_atomic_block
    next(response.streaming_content)
    response.close()
    assert not connection.in_atomic_block
    stream_csv([many], None, "f").close()
    assert not connection.in_atomic_block


def test_a_csv_has_each_time_also_in_iso_8601():
    moment = datetime(2026, 11, 22, 14, 5, 7, 999, tzinfo=ZoneInfo("Europe/Berlin"))
    rows = [("a", 1_795_360_526, None, moment), ("b", None, 1, None)]
    table = Table("t", ["format", "startedAt", "platform", "since"], lambda: rows)
    assert body(stream_csv([table], None, "f")).splitlines() == [
        '"format","startedAt","startedAtIso","platform","since","sinceIso"',
        '"a",1795360526,"2026-11-22T15:15:26Z",,1795352707,"2026-11-22T13:05:07Z"',
        '"b",,,1,,',
    ]
