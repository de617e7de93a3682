"""`affidavit har`: recorded traffic in, shapes out. Bodies and values never leave this process."""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from affidavit._cli._hub import Undelivered, add_hub_options, hub_and_key
from affidavit._cli._preview import preview
from affidavit._cli._progress import progress_bar
from affidavit._cli._replay import replayable
from affidavit._errors import ReportError
from affidavit._har.entries import Exchange, LeftOut, Skip, read_har
from affidavit._hub.transport import Transport
from affidavit._json import ABSENT, Absent, Json
from affidavit._paths.learner import Learner
from affidavit._paths.templates import Template
from affidavit._witness.delivery import make_content_report_id, send_observations
from affidavit._witness.observations import Observations

DESCRIPTION = """Read a HAR file, infer the shapes of its traffic on this machine, and send nothing but the
shapes to a hub. Sending the same file again changes nothing. Paths with a segment that may be a value are
listed and held back."""

HOW_TO_SEND = "--send-undecided sends such"
MAX_LISTED = 50  # lines
MAX_PATH = 2000  # characters of a template that the hub takes


def add_to(commands: Any) -> None:
    """Add this command to argparse's subcommands."""
    parser = commands.add_parser("har", help="send the shapes of recorded traffic", description=DESCRIPTION)
    parser.add_argument("file", metavar="FILE", help="a HAR file, plain or gzip")
    add_hub_options(parser)
    parser.add_argument("--dry-run", action="store_true", help="send nothing, print the catalog as JSON")
    parser.add_argument(
        "--send-undecided", action="store_true", help="send paths with segments that may be values, as they stand"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Raises UsageError, HarError or Undelivered. The file is read to its end before anything is sent."""
    transport, key = (None, "") if options.dry_run else hub_and_key(options)
    recording = read(options.file, send_undecided=options.send_undecided)
    if transport is None:
        catalog = {"environment": options.environment or "production", "operations": recording.operations}
        print(json.dumps(catalog, indent=2))
        print(f"Nothing sent of {recording.size}.{recording.remarks}", file=sys.stderr)
    else:
        send(recording, transport, key, options.environment)
        print(f"Sent {recording.size}, refused none.{recording.remarks}")
    for line in listed(recording.held_back):
        print(line, file=sys.stderr)


@dataclass(frozen=True)
class Recording:
    """What one file came to.

    decided, undecided: wire observations, these with a segment that may be a value; held_back: such as are not to be
    sent. operations: the catalog that the others make.
    """

    decided: Sequence[Mapping[str, Any]]
    undecided: Sequence[Mapping[str, Any]]
    held_back: Sequence[Mapping[str, Any]]
    operations: Sequence[Mapping[str, Any]]
    skipped: Counter[Skip]
    left_out: Counter[LeftOut]

    @property
    def entries(self) -> Sequence[Mapping[str, Any]]:
        return [*self.decided, *self.undecided]

    @property
    def size(self) -> str:
        seen, made = _observed(self.entries), len(self.operations)
        return f"{_counted(seen, 'observation')} of {_counted(made, 'operation')}"

    @property
    def remarks(self) -> str:
        """A sentence for each thing that was not taken, every reason counted."""
        idle = _observed(self.entries) - sum(operation["observations"] for operation in self.operations)
        told = [f" Skipped {_counted(self.skipped.total(), 'entry', 'entries')}{_reasons(self.skipped)}."]
        if bodies := self.left_out.total():
            told.append(f" Left out {_counted(bodies, 'body', 'bodies')}{_reasons(self.left_out)}.")
        if idle:
            told.append(f" {_counted(idle, 'observation')} of nothing but 404, 405 and 501: no operation.")
        if held := _observed(self.held_back):
            told.append(f" Held back {_counted(held, 'observation')} whose path may hold a value; {HOW_TO_SEND}.")
        return "".join(told)


def read(path: str, *, send_undecided: bool = False) -> Recording:
    """Sum up a whole file, with progress bars where somebody watches.

    It is read twice: the templates of its paths are learned from all of it before any path is taken.
    """
    observations, skipped, left_out = Observations(), Counter[Skip](), Counter[LeftOut]()
    with replayable(path) as file:
        learner = _learned(file, path)
        for item in _items(file, path, "Reading"):
            if isinstance(item, Skip):
                skipped[item] += 1
            elif len((known := learner.template(item.path)).path) > MAX_PATH:
                skipped[Skip.TOO_LARGE] += 1
            else:
                _add(observations, item, known, left_out)
    decided, undecided = list[Mapping[str, Any]](), list[Mapping[str, Any]]()
    for entry in observations.entries():
        (undecided if "undecided" in entry else decided).append(entry)
    undecided, held_back = (undecided, []) if send_undecided else ([], undecided)
    operations = preview([*decided, *undecided])
    return Recording(decided, undecided, held_back, operations, skipped, left_out)


def listed(held_back: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each operation that is held back, the segments that may be values in brackets."""
    lines = sorted({f"  {_bracketed(entry)}" for entry in held_back})
    yield from lines[:MAX_LISTED]
    if len(lines) > MAX_LISTED:
        yield f"  and {len(lines) - MAX_LISTED} more"


def send(recording: Recording, transport: Transport, key: str, environment: str | None) -> None:
    """Deliver under report ids that follow from the content, so that sending again changes nothing.

    What is undecided goes in reports of its own: it can be sent later, and the others are still the same.
    """
    delivered = 0
    for part in (recording.decided, recording.undecided):
        try:
            send_observations(
                part, api_key=key, transport=transport, environment=environment, report_id=make_content_report_id
            )
        except ReportError as error:
            sent, total = _observed(recording.entries[: delivered + error.sent]), _observed(recording.entries)
            again = " What was sent counts once, however often the file is sent." if sent else ""
            counted = f"Sent {sent} of {_counted(total, 'observation')}, refused {total - sent}."
            raise Undelivered(f"{error} {counted}{again}{recording.remarks}") from None
        delivered += len(part)


def _add(observations: Observations, exchange: Exchange, known: Template, left_out: Counter[LeftOut]) -> None:
    left_out.update(body for body in (exchange.request, exchange.response) if isinstance(body, LeftOut))
    observations.add(
        exchange.method,
        known,
        exchange.status,
        at=exchange.at,
        query=exchange.query or None,
        request=_without(exchange.request),
        response=_without(exchange.response),
    )


def _learned(file: str, name: str) -> Learner:
    learner = Learner()
    for item in _items(file, name, "Learning"):
        if isinstance(item, Exchange):
            learner.learn(
                item.method,
                item.path,
                item.status,
                request=_without(item.request),
                response=_without(item.response),
            )
    return learner


def _items(file: str, name: str, label: str) -> Iterator[Exchange | Skip]:
    with progress_bar(label) as progress:
        yield from read_har(file, now=time.time(), progress=progress, name=name)


def _without(body: "Json | Absent | LeftOut") -> "Json | Absent":
    return ABSENT if isinstance(body, LeftOut) else body


def _bracketed(entry: Mapping[str, Any]) -> str:
    """`GET /files/[anna]`: an operation with what is undecided marked."""
    segments = entry["path"].split("/")
    for index in entry["undecided"]:
        segments[index + 1] = f"[{segments[index + 1]}]"
    return f"{entry['method']} {'/'.join(segments)}"


def _observed(entries: Iterable[Mapping[str, Any]]) -> int:
    return sum(entry["count"] for entry in entries)


def _counted(number: int, one: str, several: str = "") -> str:
    return f"{number} {one if number == 1 else several or one + 's'}"


def _reasons(counts: Mapping[Any, int]) -> str:
    """`: 1 malformed, 3 not HTTP`, or nothing."""
    listed = ", ".join(f"{counts[reason]} {reason.value}" for reason in sorted(counts, key=_word))
    return listed and f": {listed}"


def _word(reason: Enum) -> str:
    return str(reason.value)
