r"""Rows of an export that one statement selects. There may be many millions, so PostgreSQL itself writes them as CSV.

The cells are the same that wire.table_exports writes from rows of Python: text is in quotes and neutralised, which
means that no spreadsheet runs it as a formula; numbers are unchanged; NULL is empty. Lines end in \r\n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.abc import Buffer

from wire.postgresql.replica import get_read_connection
from wire.text.spreadsheet_formulas import neutralize_sql

ROWS_AT_ONCE = 2000
LINE_END = b"\r\n"  # PostgreSQL ends lines in \n
# Read rows in the order of an index, and look up rows of other tables by their keys. So the first lines leave at once,
# nothing is sorted on disk, and several processes of PostgreSQL share the work. Do not cache look-ups: no two rows look
# up the same row, so the cache would never hit, and would take a quarter of the time. `write_iso_sql` needs the
# DateStyle.
READ_IN_ORDER = "SET LOCAL enable_sort = off; SET LOCAL enable_memoize = off; SET LOCAL DateStyle = 'ISO'"


@dataclass(frozen=True)
class SelectedRows:
    """The rows of a statement. Calling it yields them as sequences of Python values.

    statement: a SELECT without an order. It may have more columns than `columns`, to order by them.
    columns: the names of the exported columns in SQL.
    text_columns: the text columns, all others are numbers.
    rows_at_once: how many rows are in memory.
    order: the order of the rows in SQL. The statement's columns are called `selected.NAME` there, because a bare name
        would mean the neutralised text.
    """

    statement: str
    parameters: Mapping[str, Any]
    columns: Sequence[str]
    text_columns: Sequence[str]
    rows_at_once: int = ROWS_AT_ONCE
    order: str = ""

    def __call__(self) -> Iterator[Sequence[Any]]:
        with read_in_order() as connection, connection.chunked_cursor() as cursor:
            cursor.execute(self._select(self.columns), self.parameters)
            while rows := cursor.fetchmany(self.rows_at_once):
                yield from rows

    def stream_csv(self, times: Sequence[str] = ()) -> Iterator[bytes]:
        """Yield chunks of many lines each in UTF-8, without a header. Nothing else can use the connection meanwhile.

        times: the columns of Unix seconds. Each is followed by a column with the same time in ISO 8601.

        A caller that stops early can go on using its transaction.
        """
        with (
            read_in_order() as connection,
            connection.wrap_database_errors,
            connection.cursor() as cursor,
            cursor.copy(cursor.mogrify(self._write_copy(times), self.parameters)) as copy,
        ):
            rows = iter(copy)
            while lines := list(islice(rows, self.rows_at_once)):
                yield end_lines(lines)

    def write_select(self, times: Sequence[str] = ()) -> str:
        """Return the statement that selects the cells of the CSV, each in a column of its own."""
        cells = []
        for name in self.columns:
            cells.append(f"{neutralize_sql(name)} AS {name}" if name in self.text_columns else name)
            if name in times:
                cells.append(f"{write_iso_sql(name)} AS {name}_iso")
        return self._select(cells)

    def _write_copy(self, times: Sequence[str]) -> str:
        """Return the statement that has PostgreSQL write the rows."""
        texts = [*self.text_columns, *(f"{name}_iso" for name in times)]
        force_quote = f", FORCE_QUOTE ({', '.join(texts)})" if texts else ""
        return f"COPY ({self.write_select(times)}) TO STDOUT (FORMAT csv{force_quote})"

    def _select(self, cells: Sequence[str]) -> str:
        """Return a statement that selects the cells of all rows in their order.

        The order is not within the inner statement: otherwise one process of PostgreSQL would compute all cells, after
        it has merged the rows of the others.
        """
        order = f" ORDER BY {self.order}" if self.order else ""
        return f"SELECT {', '.join(cells)} FROM ({self.statement}) AS selected{order}"


@contextmanager
def read_in_order() -> Iterator[BaseDatabaseWrapper]:
    """Open a transaction whose query plans keep the order of an index. Yield the connection for reads."""
    connection = get_read_connection()
    with transaction.atomic(using=connection.alias):
        with connection.cursor() as cursor:
            cursor.execute(READ_IN_ORDER)
        yield connection


def end_lines(lines: Sequence[Buffer]) -> bytes:
    r"""Join lines that end in \n, and end each with \r\n. A \n within a cell stays."""
    text = b"".join(lines)
    if text.count(b"\n") == len(lines):  # as nearly always
        return text.replace(b"\n", LINE_END)
    return b"".join(bytes(line)[:-1] + LINE_END for line in lines)


def write_iso_sql(column: str) -> str:
    """Return SQL that writes Unix seconds as 2026-11-22T14:05:00Z.

    It needs the DateStyle ISO, and takes half the time of `to_char`, which also reads its pattern and the time zone.
    """
    return f"replace((timestamp 'epoch' + make_interval(secs => {column}))::text, ' ', 'T') || 'Z'"
