"""Every table of a page as JSON and CSV: the same rows, no cap, streamed (contract 5)."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import chain
from typing import Any

from django.http import HttpResponseBase, StreamingHttpResponse

from wire.errors import NotFound
from wire.timestamps import unix_seconds

RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # the wide ones run in East Asia
CHUNK_CHARACTERS = 64 * 1024
INCOMPLETE = "INCOMPLETE: the rest could not be read. Download this again.\r\n"


@dataclass(frozen=True)
class Table:
    """Named columns, and rows that are read only when the table is downloaded; `rows()` yields one sequence per row."""

    name: str
    columns: Sequence[str]
    rows: Callable[[], Iterable[Sequence[Any]]]


def stream_csv(tables: Sequence[Table], name: str | None, filename: str) -> HttpResponseBase:
    """Answer with one table as CSV, by default the first; raises NotFound where there is no such table."""
    table = next((table for table in tables if name in (None, "", table.name)), None)
    if table is None:
        names = ", ".join(table.name for table in tables)
        raise NotFound(f"This page has the tables {names}: choose one with ?table=NAME.")
    response = StreamingHttpResponse(stream_chunks(format_csv(table)), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{filename}-{table.name}.csv"'
    return response


def stream_json(tables: Sequence[Table], facts: Mapping[str, Any]) -> HttpResponseBase:
    """Answer with all tables as one object: the facts, then `tables` by name, each a list of objects."""
    return StreamingHttpResponse(stream_chunks(format_json(tables, facts)), content_type="application/json")


def stream_chunks(texts: Iterable[str]) -> Iterator[str]:
    """Join the texts into larger chunks. The first is read at once, so that a failure in it is an error answer.

    A later failure ends the answer with the line INCOMPLETE: otherwise the answer would look complete.
    """
    chunks = join_chunks(texts)
    return chain([next(chunks)], mark_failure(chunks))


def mark_failure(chunks: Iterator[str]) -> Iterator[str]:
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


def format_csv(table: Table) -> Iterator[str]:
    buffer = _LastLine()
    writer = csv.writer(buffer, lineterminator="\r\n")
    for row in chain([table.columns], table.rows()):
        writer.writerow([csv_cell(value) for value in row])
        yield buffer.text


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


def csv_cell(value: Any) -> Any:
    """Put an apostrophe before text that a spreadsheet would run; numbers stay as they are."""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(RUN_BY_SPREADSHEETS) or runs_when_trimmed(value) else value
    if isinstance(value, datetime):
        return unix_seconds(value)
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return value


def runs_when_trimmed(text: str) -> bool:
    return text[:1].isspace() and text.lstrip().startswith(RUN_BY_SPREADSHEETS)


def json_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return unix_seconds(value)
    return float(value) if isinstance(value, Decimal) else value


class _LastLine:
    """The file-like end of a csv.writer: it keeps the line written last."""

    text = ""

    def write(self, text: str) -> None:
        self.text = text
