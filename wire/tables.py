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

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse

from wire.errors import NotFound
from wire.timestamps import unix_seconds

RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # the wide ones run in East Asia
PIECE = 64 * 1024  # characters
BROKEN_OFF = "INCOMPLETE: the rest could not be read. Download this again.\r\n"


@dataclass(frozen=True)
class Table:
    """Named columns and rows that are read only when asked for; `rows()` yields one sequence per row."""

    name: str
    columns: Sequence[str]
    rows: Callable[[], Iterable[Sequence[Any]]]


def as_csv(tables: Sequence[Table], name: str | None, filename: str) -> HttpResponseBase:
    """One table as CSV; raises NotFound where there is no such table."""
    table = next((table for table in tables if name in (None, "", table.name)), None)
    if table is None:
        names = ", ".join(table.name for table in tables)
        raise NotFound(f"This page has the tables {names}: choose one with ?table=NAME.")
    response = StreamingHttpResponse(streamed(csv_lines(table)), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{filename}-{table.name}.csv"'
    return response


def as_json(tables: Sequence[Table], facts: Mapping[str, Any]) -> HttpResponseBase:
    """All tables as one object: the facts, then `tables` by name, each a list of objects."""
    return StreamingHttpResponse(streamed(json_texts(tables, facts)), content_type="application/json")


def streamed(texts: Iterable[str]) -> Iterator[str]:
    """The texts in larger pieces, the first made before the answer begins: what fails until then is told by its status.

    What fails later is told by a last line, as the server would end the answer as if it were whole.
    """
    pieces = in_pieces(texts)
    return chain([next(pieces)], to_the_end(pieces))


def to_the_end(pieces: Iterator[str]) -> Iterator[str]:
    try:
        yield from pieces
    except Exception:  # whatever it was, the reader must not take what came for all there is; it goes on
        yield BROKEN_OFF
        raise


def in_pieces(texts: Iterable[str]) -> Iterator[str]:
    gathered: list[str] = []
    size = 0
    for text in texts:
        gathered.append(text)
        size += len(text)
        if size >= PIECE:
            yield "".join(gathered)
            gathered, size = [], 0
    yield "".join(gathered)


def csv_lines(table: Table) -> Iterator[str]:
    line = Line()
    writer = csv.writer(line, lineterminator="\r\n")
    for row in chain([table.columns], table.rows()):
        writer.writerow([csv_cell(value) for value in row])
        yield line.text


def json_texts(tables: Sequence[Table], facts: Mapping[str, Any]) -> Iterator[str]:
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
    """Text that a spreadsheet would run gets a leading apostrophe; numbers are left alone."""
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


class Line:
    """The file-like end of a csv.writer: what it wrote last."""

    text = ""

    def write(self, text: str) -> None:
        self.text = text


def plain_json(value: Any, **headers: str) -> HttpResponse:
    """A small JSON answer whose bytes are the same for the same value."""
    return HttpResponse(json.dumps(value, ensure_ascii=False), content_type="application/json", headers=headers)
