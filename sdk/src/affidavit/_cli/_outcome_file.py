"""A file of outcomes, CSV or JSON lines, read line by line; what is wrong with it is told by its lines."""

import csv
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from affidavit._cli._hub import UsageError
from affidavit._json import InvalidJson, parse
from affidavit._outcomes.report import ITEM_NAMES
from affidavit._outcomes.reporter import MAX_ID_LENGTH, MAX_KEY_LENGTH, is_valid_text

FAULTS_SHOWN = 10
IGNORED_KEPT = 1000  # names; in JSON lines they may be data, and each its own
# Rows of a column of this name would all go to the one environment of the command, whatever stands there.
ENVIRONMENT = "environment"
USE_THE_OPTION = "an environment is not read from the file. Split it by environment, and send each with --environment"


@dataclass(frozen=True)
class Line:
    """One outcome of the file, or what is wrong with it.

    number: that of its line, from 1. others: names of the columns or members beside the two that are sent.
    """

    number: int
    conversation_id: str = ""
    outcome_key: str = ""
    fault: str = ""
    others: Collection[str] = ()

    @property
    def content(self) -> bytes:
        return json.dumps([self.conversation_id, self.outcome_key]).encode() + b"\n"

    @property
    def item(self) -> dict[str, object]:
        return dict(zip(ITEM_NAMES, (self.conversation_id, self.outcome_key), strict=True))


class Checked(NamedTuple):
    """What a whole file has. ignored: names that are not sent, each once, in order of first appearance."""

    outcomes: int
    ignored: Sequence[str]


def check(path: Path) -> Checked:
    """UsageError with the first wrong lines, if there are any."""
    faults, wrong, count = list[str](), 0, 0
    ignored = dict[str, None]()
    for line in lines(path):
        count += 1
        if len(ignored) < IGNORED_KEPT:
            ignored.update(dict.fromkeys(line.others))
        if line.fault:
            wrong += 1
            if len(faults) < FAULTS_SHOWN:
                faults.append(f"line {line.number}: {line.fault}")
    if wrong:
        more = f" … and {wrong - len(faults)} more lines." if wrong > len(faults) else ""
        raise UsageError(f"{path.name}: nothing was sent. {' '.join(faults)}{more}")
    return Checked(count, list(ignored))


def lines(path: Path) -> Iterator[Line]:
    """Every outcome in order; UsageError for a file that cannot be read as a whole."""
    readers = {".csv": _csv_lines, ".jsonl": _json_lines, ".ndjson": _json_lines}
    if path.suffix.lower() not in readers:
        raise UsageError(f"{path.name}: give a .csv or a .jsonl file.")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from readers[path.suffix.lower()](file)
    except UnicodeDecodeError:
        raise UsageError(f"{path.name} is not UTF-8. Save it as UTF-8 and run this again.") from None
    except csv.Error:
        raise UsageError(f"{path.name} is not CSV that can be read. Look for a stray quote or a NUL.") from None
    except OSError as error:
        raise UsageError(f"{path.name} cannot be read: {error.strerror}.") from None


def _csv_lines(file: IO[str]) -> Iterator[Line]:
    reader = csv.reader(file, strict=True)
    header = [name.strip() for name in next(reader, [])]
    _check_header(header)
    at = [header.index(name) for name in ITEM_NAMES]
    others = _others(header)
    number = reader.line_num + 1
    for row in reader:
        if row:
            values = [row[column] if column < len(row) else None for column in at]
            yield _line(number, values, others)
        number = reader.line_num + 1


def _check_header(header: Sequence[str]) -> None:
    if missing := [name for name in ITEM_NAMES if name not in header]:
        raise UsageError(f"The first line must name the columns; missing: {', '.join(missing)}.")
    if twice := [name for name in ITEM_NAMES if header.count(name) > 1]:
        raise UsageError(f"The first line names a column twice: {', '.join(twice)}. Keep the one that is meant.")
    if _names_environment(header):
        raise UsageError(f"The file has a column for the environment; {USE_THE_OPTION}.")


def _json_lines(file: IO[str]) -> Iterator[Line]:
    for number, text in enumerate(file, start=1):
        if not text.strip():
            continue
        try:
            value = parse(text)
        except InvalidJson as error:
            yield Line(number, fault=f"not JSON ({error.reason}).")
            continue
        if isinstance(value, dict):
            yield _json_line(number, value)
        else:
            yield Line(number, fault='not an object. Write {"conversationId": …, "outcomeKey": …}.')


def _json_line(number: int, value: Mapping[str, object]) -> Line:
    if _names_environment(value):
        return Line(number, fault=f"{USE_THE_OPTION}.")
    return _line(number, [value.get(name) for name in ITEM_NAMES], _others(value))


def _names_environment(names: Collection[str]) -> bool:
    return any(name.casefold() == ENVIRONMENT for name in names)


def _others(names: Collection[str]) -> Collection[str]:
    return [name for name in names if name and name not in ITEM_NAMES]


def _line(number: int, values: Sequence[object], others: Collection[str]) -> Line:
    for name, value, longest in zip(ITEM_NAMES, values, (MAX_ID_LENGTH, MAX_KEY_LENGTH), strict=True):
        if not isinstance(value, str) or not is_valid_text(value, longest):
            return Line(number, fault=f"{name} is missing, or not a text of 1 to {longest} characters.")
    return Line(number, str(values[0]), str(values[1]), others=others)
