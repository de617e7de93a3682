"""Every table of a page as JSON and CSV: the same rows, no cap, streamed (contract 5)."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse

from wire.fields import unix
from wire.problems import Problem

RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r", "\n")
ROWS_PER_CHUNK = 500


@dataclass(frozen=True)
class Table:
    """Named columns and rows that are read only when asked for; `rows()` yields one sequence per row."""

    name: str
    columns: Sequence[str]
    rows: Callable[[], Iterable[Sequence[Any]]]


def as_csv(tables: Sequence[Table], name: str | None, filename: str) -> HttpResponseBase:
    """One table as CSV; raises Problem 404 where there is no such table."""
    table = next((table for table in tables if name in (None, "", table.name)), None)
    if table is None:
        names = ", ".join(table.name for table in tables)
        raise Problem(404, "not-found", f"This page has the tables {names}: choose one with ?table=NAME.")
    response = StreamingHttpResponse(csv_chunks(table), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{filename}-{table.name}.csv"'
    return response


def as_json(tables: Sequence[Table], facts: Mapping[str, Any]) -> HttpResponseBase:
    """All tables as one object: the facts, then `tables` by name, each a list of objects."""
    return StreamingHttpResponse(json_chunks(tables, facts), content_type="application/json")


def csv_chunks(table: Table) -> Iterator[str]:
    lines = Lines()
    writer = csv.writer(lines, lineterminator="\r\n")
    writer.writerow(table.columns)
    for count, row in enumerate(table.rows(), start=1):
        writer.writerow([csv_cell(value) for value in row])
        if count % ROWS_PER_CHUNK == 0:
            yield lines.taken()
    yield lines.taken()


def json_chunks(tables: Sequence[Table], facts: Mapping[str, Any]) -> Iterator[str]:
    head = json.dumps({name: json_value(value) for name, value in facts.items()}, ensure_ascii=False)
    yield f'{head[:-1]}{", " if facts else ""}"tables": {{'
    for position, table in enumerate(tables):
        yield f"{', ' if position else ''}{json.dumps(table.name)}: ["
        yield from json_rows(table)
        yield "]"
    yield "}}\n"


def json_rows(table: Table) -> Iterator[str]:
    batch: list[str] = []
    for count, row in enumerate(table.rows()):
        record = {name: json_value(value) for name, value in zip(table.columns, row, strict=True)}
        batch.append(f"{',' if count else ''}\n{json.dumps(record, ensure_ascii=False)}")
        if len(batch) == ROWS_PER_CHUNK:
            yield "".join(batch)
            batch.clear()
    yield "".join(batch)


def csv_cell(value: Any) -> Any:
    """Text that a spreadsheet would run gets a leading apostrophe; numbers are left alone."""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(RUN_BY_SPREADSHEETS) else value
    if isinstance(value, datetime):
        return unix(value)
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return value


def json_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return unix(value)
    return float(value) if isinstance(value, Decimal) else value


class Lines:
    """The file-like end of a csv.writer whose lines are taken away in chunks."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def write(self, line: str) -> None:
        self._lines.append(line)

    def taken(self) -> str:
        text = "".join(self._lines)
        self._lines.clear()
        return text


def plain_json(value: Any, **headers: str) -> HttpResponse:
    """A small JSON answer whose bytes are the same for the same value."""
    return HttpResponse(json.dumps(value, ensure_ascii=False), content_type="application/json", headers=headers)
