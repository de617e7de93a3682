"""Exports have the same rows as CSV and JSON, and a broken one says so."""

import csv
import io
import json
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from wire.errors import NotFound
from wire.table_exports import Table, stream_csv, stream_json

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


def csv_of(*rows) -> str:
    columns = [f"c{number}" for number in range(len(rows[0]))]
    return body(stream_csv([Table("t", columns, lambda: rows)], None, "f"))


def test_counts_by_name_are_written_in_words():
    cell = '"expired:15, args-mismatch:2"'
    assert csv_of(({"expired": 15, "args-mismatch": 2},)).splitlines()[1] == cell


def test_truth_values_are_written_as_in_json():
    assert csv_of((True, False, None, [True])).splitlines()[1] == 'true,false,,"[true]"'


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
