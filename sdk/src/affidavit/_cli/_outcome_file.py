"""Read a file of outcomes, CSV or JSON lines, line by line; faults are reported with their line numbers."""

import csv
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, NamedTuple

from affidavit._cli._hub_options import UsageError
from affidavit._json import InvalidJson, parse
from affidavit._outcomes.report import ITEM_NAMES
from affidavit._outcomes.reporter import MAX_ID_LENGTH, MAX_KEY_LENGTH, is_valid_text

_DELIMITERS = ",;\t"
_MAX_CELL = 16 * 1024 * 1024  # characters of a cell, such as a whole conversation in a column that is not sent
_MAX_FAULTY_ROWS_SHOWN = 10
_MAX_IGNORED = 1000  # names in the summary: a file of JSON lines can have others in every line
# All rows go to the environment of the command; a column of this name would be silently ignored.
_ENVIRONMENT = "environment"
_USE_THE_OPTION = "an environment is not read from the file. Split it by environment, and send each with --environment"


class _WrongCsv(Exception):
    """The columns of a CSV file are not what they must be, or it cannot be read further."""


@dataclass(frozen=True)
class OutcomeLine:
    """One outcome of the file, or its fault.

    number: the number of its line, from 1.
    extra_names: the columns or members other than the two that are sent.
    """

    number: int
    conversation_id: str = ""
    outcome_key: str = ""
    fault: str = ""
    extra_names: Collection[str] = ()

    @property
    def content(self) -> bytes:
        """Return the outcome as bytes to be hashed."""
        return json.dumps([self.conversation_id, self.outcome_key]).encode() + b"\n"

    @property
    def item(self) -> dict[str, object]:
        """Return the outcome as an item of a request."""
        return dict(zip(ITEM_NAMES, (self.conversation_id, self.outcome_key), strict=True))


class FileSummary(NamedTuple):
    """The content of a file in numbers.

    ignored_names: the columns or members that are not sent, each once, in order of first appearance.
    """

    outcomes: int
    ignored_names: Sequence[str]


def check_file(path: Path) -> FileSummary:
    """Check a whole file. Raises UsageError with the first faulty lines, if there are any."""
    faults, fault_count, count = list[str](), 0, 0
    ignored_names = dict[str, None]()
    for line in read_lines(path):
        count += 1
        if len(ignored_names) < _MAX_IGNORED:
            ignored_names.update(dict.fromkeys(line.extra_names))
        if line.fault:
            fault_count += 1
            if len(faults) < _MAX_FAULTY_ROWS_SHOWN:
                faults.append(f"line {line.number}: {line.fault}")
    if fault_count:
        rest = fault_count - len(faults)
        more = f" … and {rest} more line{'s' if rest > 1 else ''}." if rest else ""
        raise UsageError(f"{path.name}: nothing was sent. {' '.join(faults)}{more}")
    return FileSummary(count, list(ignored_names))


def read_lines(path: Path) -> Iterator[OutcomeLine]:
    """Yield every outcome in order. Raises UsageError for a file that cannot be read to its end."""
    readers = {".csv": _read_csv, ".jsonl": _read_json_lines, ".ndjson": _read_json_lines}
    if path.suffix.lower() not in readers:
        raise UsageError(f"{path.name}: give a .csv or a .jsonl file.")
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe can be read once, but is checked before it is sent
        raise UsageError(f"{path.name} cannot be read: it is no regular file.")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from readers[path.suffix.lower()](file)
    except _WrongCsv as error:
        raise UsageError(f"{path.name}: {error}") from None
    except csv.Error:  # of the header, whose delimiter is not known yet
        raise UsageError(f"{path.name}: the first line is too long for the names of columns.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path.name} is not UTF-8. Save it as UTF-8 and run this again.") from None
    except OSError as error:
        raise UsageError(f"{path.name} cannot be read: {error.strerror}.") from None


def _read_csv(file: IO[str]) -> Iterator[OutcomeLine]:
    csv.field_size_limit(_MAX_CELL)
    blank_count, first_line = 0, next(file, "")
    while first_line and not first_line.strip():
        blank_count, first_line = blank_count + 1, next(file, "")
    rows = _read_rows(chain([first_line], file), _detect_delimiter(first_line), blank_count + 1)
    header = [name.strip() for _, row in islice(rows, 1) for name in row]
    _check_header(header)
    columns = [header.index(name) for name in ITEM_NAMES]
    extra_names = _list_extra_names(header)
    for number, row in rows:
        if any(value.strip() for value in row[len(header) :]):
            fault = f"has {len(row)} cells, but the first line {len(header)}. Put a text with a delimiter into quotes."
            yield OutcomeLine(number, fault=fault)
        elif any(value.strip() for value in row):
            values = [row[column] if column < len(row) else None for column in columns]
            yield _build_line(number, values, extra_names)


def _read_rows(lines: Iterable[str], delimiter: str, first_number: int) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the number of the line on which it begins. Raises _WrongCsv.

    first_number: the number of the first line.
    """
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    number = first_number
    try:
        for row in reader:
            yield number, row
            number = first_number + reader.line_num
    except csv.Error:
        advice = "Look there for a quote that does not belong, or is not closed."
        raise _WrongCsv(f"what begins on line {number} cannot be read as CSV. {advice}") from None


def _detect_delimiter(header: str) -> str:
    """Return the delimiter that finds the two columns in the header, or else splits it the most.

    Spreadsheets also write semicolons and tabs. The names of other columns may hold any of them.
    """

    def rate(delimiter: str) -> tuple[int, int]:
        names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
        return sum(name in names for name in ITEM_NAMES), len(names)

    return max(_DELIMITERS, key=rate)


def _check_header(header: Sequence[str]) -> None:
    if missing_names := [name for name in ITEM_NAMES if name not in header]:
        raise _WrongCsv(f"the first line must name the columns; missing: {', '.join(missing_names)}.")
    if repeats := [name for name in ITEM_NAMES if header.count(name) > 1]:
        raise _WrongCsv(f"the first line names a column twice: {', '.join(repeats)}. Keep the one that is meant.")
    if _has_environment(header):
        raise _WrongCsv(f"the file has a column for the environment; {_USE_THE_OPTION}.")


def _read_json_lines(file: IO[str]) -> Iterator[OutcomeLine]:
    for number, text in enumerate(file, start=1):
        if not text.strip():
            continue
        try:
            value = parse(text)
        except InvalidJson as error:
            yield OutcomeLine(number, fault=f"not JSON ({error.reason}).")
            continue
        if isinstance(value, dict):
            yield _parse_json_line(number, value)
        else:
            yield OutcomeLine(number, fault='not an object. Write {"conversationId": …, "outcomeKey": …}.')


def _parse_json_line(number: int, value: Mapping[str, object]) -> OutcomeLine:
    if _has_environment(value):
        return OutcomeLine(number, fault=f"{_USE_THE_OPTION}.")
    return _build_line(number, [value.get(name) for name in ITEM_NAMES], _list_extra_names(value))


def _has_environment(names: Collection[str]) -> bool:
    return any(name.casefold() == _ENVIRONMENT for name in names)


def _list_extra_names(names: Collection[str]) -> Collection[str]:
    return [name for name in names if name and name not in ITEM_NAMES]


def _build_line(number: int, values: Sequence[object], extra_names: Collection[str]) -> OutcomeLine:
    for name, value, max_length in zip(ITEM_NAMES, values, (MAX_ID_LENGTH, MAX_KEY_LENGTH), strict=True):
        if not isinstance(value, str) or not is_valid_text(value, max_length):
            return OutcomeLine(number, fault=f"{name} is missing, or not a text of 1 to {max_length} characters.")
    return OutcomeLine(number, str(values[0]), str(values[1]), extra_names=extra_names)
