"""Every table of a page as JSON and CSV: the same rows, no cap, streamed (contract §5)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from itertools import chain
from typing import Any

from django.http import HttpResponseBase, StreamingHttpResponse

from wire.errors import NotFound
from wire.postgresql.copy_csv import SelectedRows
from wire.postgresql.snapshot import read_snapshot
from wire.text.spreadsheet_formulas import neutralize, neutralize_strings
from wire.time.timestamps import unix_seconds

# The names of columns of times. In CSV, a second column beside each has the same times in ISO 8601.
TIME_NAME = re.compile(r"(?:^at|^since|^start|^hour|At|From|Until)$")
ISO_SUFFIX = "Iso"
CHUNK_CHARACTERS = 64 * 1024
Chunk = str | bytes  # bytes as PostgreSQL wrote them, because to decode and encode millions of rows takes time
INCOMPLETE = "INCOMPLETE: the rest could not be read. Download this again.\r\n"


@dataclass(frozen=True)
class Table:
    """Named columns, and rows that are read only when the table is downloaded; `rows()` yields one sequence per row.

    Rows that may be very many are SelectedRows: PostgreSQL writes their CSV.
    """

    name: str
    columns: Sequence[str]
    rows: Callable[[], Iterable[Sequence[Any]]]

    @property
    def are_times(self) -> Sequence[bool]:
        """Return for each column whether it holds times, judged by its name."""
        return [TIME_NAME.search(column) is not None for column in self.columns]


def stream_csv(tables: Sequence[Table], name: str | None, page: str, *, period: str = "") -> HttpResponseBase:
    """Answer with one table as CSV, by default the first; raises NotFound if there is no such table.

    page, period: what the file's name says besides the table.
    """
    table = next((table for table in tables if name in (None, "", table.name)), None)
    if table is None:
        names = ", ".join(table.name for table in tables)
        choice = f"This page has the tables {names}: choose one with ?table=NAME."
        raise NotFound(choice if names else "This page has no table.")
    response = StreamingHttpResponse(stream_chunks(join_csv(table)), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name_file(page, table.name, period)}"'
    return response


def name_file(page: str, table: str, period: str) -> str:
    """Return a name such as `shop-production-outcomes-keys-7d.csv`.

    The table's name is left out if the page's name ends with it.
    """
    parts = [page] if page.endswith(f"-{table.lower()}") else [page, table]
    return "-".join([*parts, period] if period else parts) + ".csv"


def stream_json(tables: Sequence[Table], facts: Mapping[str, Any]) -> HttpResponseBase:
    """Answer with all tables as one object: the facts, then `tables` by name, each a list of objects."""
    return StreamingHttpResponse(
        stream_chunks(join_chunks(format_json(tables, facts))), content_type="application/json"
    )


def stream_chunks(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """Stream the chunks. The first chunk is read at once, so that a failure in it becomes an error response.

    A later failure ends the answer with the line INCOMPLETE: otherwise the answer would look complete. Everything is
    read in one transaction: all tables are of one snapshot, and a pooler in transaction mode keeps the cursor.
    """
    stream = keep_context(read_chunks(chunks))
    next(stream)
    return stream


def keep_context(chunks: Generator[Chunk, None, None]) -> Iterator[Chunk]:
    """Yield the chunks. Run their code in the context of the view, although the server reads them in a different one.

    The view's context may name the replica as the database to read.
    """
    context = copy_context()
    try:
        while (chunk := context.run(next, chunks, None)) is not None:
            yield chunk
    finally:
        context.run(chunks.close)


def read_chunks(chunks: Iterator[Chunk]) -> Generator[Chunk, None, None]:
    """Read the first chunk, then yield an empty chunk, and then all chunks."""
    with read_snapshot():
        first = next(chunks)
        yield ""
        yield first
        yield from mark_failure(chunks)


def mark_failure(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    try:
        yield from chunks
    except Exception:  # whatever failed, the reader must see that the file is incomplete
        yield INCOMPLETE
        raise


def join_chunks(texts: Iterable[str]) -> Iterator[str]:
    buffer: list[str] = []
    size = 0
    for text in texts:
        buffer.append(text)
        size += len(text)
        if size >= CHUNK_CHARACTERS:
            yield "".join(buffer)
            buffer, size = [], 0
    yield "".join(buffer)


def join_csv(table: Table) -> Iterator[Chunk]:
    """Yield the chunks of a table. For SelectedRows, the first chunk is only the header.

    After the first chunk, the rest of the response is built, which may need the database connection. Reading
    SelectedRows occupies that connection, so it begins with the second chunk.
    """
    are_times = table.are_times
    header = format_line(_name_iso_columns(table.columns, are_times))
    if isinstance(table.rows, SelectedRows):
        times = [name for name, is_time in zip(table.rows.columns, are_times, strict=True) if is_time]
        yield header
        yield from table.rows.stream_csv(times)
    else:
        lines = (format_line(_add_iso_times(row, are_times)) for row in table.rows())
        yield from join_chunks(chain([header], lines))


def _name_iso_columns(columns: Sequence[str], are_times: Sequence[bool]) -> list[str]:
    names = (
        (name, f"{name}{ISO_SUFFIX}") if is_time else (name,) for name, is_time in zip(columns, are_times, strict=True)
    )
    return [name for pair in names for name in pair]


def _add_iso_times(row: Sequence[Any], are_times: Sequence[bool]) -> list[Any]:
    """Return the cells of a row; each time is followed by the same time in ISO 8601."""
    cells: list[Any] = []
    for value, is_time in zip(row, are_times, strict=True):
        cells.append(value)
        if is_time:
            cells.append(format_iso(value))
    return cells


def format_iso(value: Any) -> str | None:
    """Write a time, or Unix seconds, as 2026-11-22T14:05:00Z; None for None."""
    if isinstance(value, int):
        value = datetime.fromtimestamp(value, UTC)
    return f"{value.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if isinstance(value, datetime) else None


def format_line(row: Sequence[Any]) -> str:
    return f"{','.join(map(format_cell, row))}\r\n"


def format_json(tables: Sequence[Table], facts: Mapping[str, Any]) -> Iterator[str]:
    head = json.dumps({name: json_value(value) for name, value in facts.items()}, ensure_ascii=False)
    yield f'{head[:-1]}{", " if facts else ""}"tables": {{'
    for position, table in enumerate(tables):
        yield f"{', ' if position else ''}{json.dumps(table.name)}: ["
        for count, row in enumerate(table.rows()):
            record = {name: json_value(value) for name, value in zip(table.columns, row, strict=True)}
            yield f"{',' if count else ''}\n{json.dumps(record, ensure_ascii=False)}"
        yield "]"
    yield "}}\n"


def format_cell(value: Any) -> str:
    """Return a cell of CSV: text always in quotes and neutralised, numbers as they are, nothing for None.

    Truth values are written as in JSON: true and false; counts by name as `expired:15, replayed:7`.
    """
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float() | Decimal():
            return str(value)
        case datetime():
            return str(unix_seconds(value))
        case dict() if value and all(type(count) is int for count in value.values()):
            return quote(neutralize(", ".join(f"{name}:{count}" for name, count in value.items())))
        case dict() | list():
            return quote(json.dumps(neutralize_strings(value), ensure_ascii=False))
    return quote(neutralize(str(value)))


def quote(text: str) -> str:
    content = text.replace('"', '""')
    return f'"{content}"'


def json_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return unix_seconds(value)
    return float(value) if isinstance(value, Decimal) else value
