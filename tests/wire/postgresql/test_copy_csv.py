"""PostgreSQL writes the same CSV, byte for byte, as Python does from the same rows."""

import itertools
from dataclasses import replace

import pytest
from django.db import DatabaseError, connection
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.wire.text.test_spreadsheet_formulas import RUNS
from wire.postgresql.copy_csv import SelectedRows
from wire.table_exports import Table, stream_csv, stream_json

pytestmark = pytest.mark.django_db
COLUMNS = ("name", "number", "remark")
SELECT = """
SELECT * FROM unnest(%(names)s::text[], %(numbers)s::bigint[], %(remarks)s::text[]) AS made (name, number, remark)
"""
SPACES = [*filter(str.isspace, map(chr, range(0x110000)))]

stored = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
texts = st.text(st.sampled_from([*RUNS, *";,|\t\r\n\"' \\aé.", *SPACES]), max_size=12) | st.text(stored, max_size=12)
rows = st.lists(st.tuples(texts, st.none() | st.integers(-(2**63), 2**63 - 1), st.none() | texts))


def select(rows, *, rows_at_once=3) -> SelectedRows:
    names, numbers, remarks = ([row[position] for row in rows] for position in range(3))
    parameters = {"names": names, "numbers": numbers, "remarks": remarks}
    return SelectedRows(SELECT, parameters, COLUMNS, ("name", "remark"), rows_at_once)


def read(response) -> bytes:
    return b"".join(response.streaming_content)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(rows)
@example([(f"{space}{sign}1", 1, f'a;{space}"{sign}1') for space in SPACES for sign in RUNS])
@example(
    [
        (f"{before}{separator}{after}=1", None, "")
        for before, separator, after in itertools.product(' "a', ";,\t\r\n", ' "a')
    ]
)
def test_postgresql_and_python_write_the_same_bytes(rows):
    own_rows, selected_rows = Table("t", COLUMNS, lambda: rows), Table("t", COLUMNS, select(rows))
    assert read(stream_csv([selected_rows], None, "f")) == read(stream_csv([own_rows], None, "f"))
    assert read(stream_json([selected_rows], {})) == read(stream_json([own_rows], {}))


def test_postgresql_and_python_write_the_same_times():
    columns = ("name", "startedAt", "remark")
    values = [("a", 1_795_360_526, "x"), ("b", None, None), ("c", 0, "")]
    own_rows, selected_rows = Table("t", columns, lambda: values), Table("t", columns, select(values))
    assert read(stream_csv([selected_rows], None, "f")) == read(stream_csv([own_rows], None, "f"))


seconds = st.none() | st.integers(-30_610_224_000, 253_402_300_799)  # the years 1000 to 9999


@pytest.mark.parametrize("style", ["ISO, MDY", "SQL, DMY", "German", "Postgres, MDY"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(numbers=st.lists(seconds))
@example(numbers=[-1, 0, 59, 86_399, 86_400, 951_782_400, 4_102_444_799, None])
def test_times_are_the_same_in_any_date_style(style, numbers):
    values = [("a", number, None) for number in numbers]
    columns = ("name", "startedAt", "remark")
    own_rows, selected_rows = Table("t", columns, lambda: values), Table("t", columns, select(values))
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('DateStyle', %s, true)", [style])
    assert read(stream_csv([selected_rows], None, "f")) == read(stream_csv([own_rows], None, "f"))


def test_rows_are_in_the_order_of_their_text_before_it_is_neutralised():
    """A text that a spreadsheet would run gets an apostrophe before it, which must not change its place."""
    values = [(name, 1, None) for name in ("=1", "'1", "-1", "b", "a;=", "a;'")]
    ordered = replace(select(values), order='selected.name COLLATE "C" DESC')
    own_rows = Table("t", COLUMNS, lambda: sorted(values, reverse=True))
    selected_rows = Table("t", COLUMNS, ordered)
    assert read(stream_csv([selected_rows], None, "f")) == read(stream_csv([own_rows], None, "f"))
    assert read(stream_json([selected_rows], {})) == read(stream_json([own_rows], {}))


def test_columns_only_to_order_by_are_not_exported():
    statement = "SELECT n, -n AS position FROM generate_series(1, 3) AS n"
    table = Table("t", ["n"], SelectedRows(statement, {}, ("n",), (), order="selected.position"))
    assert read(stream_csv([table], None, "f")) == b'"n"\r\n3\r\n2\r\n1\r\n'
    assert list(table.rows()) == [(3,), (2,), (1,)]


def test_a_cell_of_numbers_only_is_not_quoted():
    table = Table("t", ["n"], SelectedRows("SELECT generate_series(1, 3) AS n", {}, ("n",), ()))
    assert read(stream_csv([table], None, "f")) == b'"n"\r\n1\r\n2\r\n3\r\n'


DIVIDE = "SELECT 1 / (20000 - n) AS n FROM generate_series(1, %(last)s::int) AS n"


def test_a_failure_during_the_download_is_reported_in_its_last_line():
    received = []
    with pytest.raises(DatabaseError, match="division by zero"):
        received.extend(
            stream_csv(
                [Table("t", ["n"], SelectedRows(DIVIDE, {"last": 30_000}, ("n",), ()))], None, "f"
            ).streaming_content
        )
    lines = b"".join(received).decode().splitlines()
    assert lines[-1].startswith("INCOMPLETE")
    assert len(lines) > 2


MANY = SelectedRows("SELECT n FROM generate_series(1, %(last)s::int) AS n", {"last": 1_000_000}, ("n",), ())


def test_reading_only_a_part_leaves_the_callers_transaction_usable():
    lines = MANY.stream_csv()
    next(lines)
    lines.close()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("chunks", [0, 1, 2, 4])
def test_an_answer_that_is_not_read_to_its_end_leaves_no_transaction_open(chunks):
    response = stream_csv([Table("t", ["n"], MANY)], None, "f")
    content = response.streaming_content
    for _ in range(chunks):
        next(content)
    response.close()
    assert not connection.in_atomic_block
