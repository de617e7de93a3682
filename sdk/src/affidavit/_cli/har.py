"""`affidavit har`: recorded traffic in, shapes out. Bodies and values never leave this process."""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from affidavit._cli._hub import Undelivered, add_hub_options, hub_and_key
from affidavit._cli._preview import preview
from affidavit._cli._progress import progress_bar
from affidavit._errors import ReportError
from affidavit._har import Exchange, LeftOut, Skip, read_har
from affidavit._json import Json
from affidavit._observations import ABSENT, Absent, Observations
from affidavit._templates import Template, template
from affidavit._transport import Transport
from affidavit._witness import content_report_id, send_observations

DESCRIPTION = """Read a HAR file, infer the shapes of its traffic on this machine, and send nothing but the
shapes to a hub. Sending the same file again changes nothing."""

MAX_PATH = 2000  # characters of a template that the hub takes


def add_to(commands: Any) -> None:
    """Add this command to argparse's subcommands."""
    parser = commands.add_parser("har", help="send the shapes of recorded traffic", description=DESCRIPTION)
    parser.add_argument("file", metavar="FILE", help="a HAR file, plain or gzip")
    add_hub_options(parser)
    parser.add_argument("--dry-run", action="store_true", help="send nothing, print the catalog as JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Raises UsageError, HarError or Undelivered. The file is read to its end before anything is sent."""
    if options.dry_run:
        recording = read(options.file)
        catalog = {"environment": options.environment or "production", "operations": recording.operations}
        print(json.dumps(catalog, indent=2))
        print(f"Nothing sent of {recording.size}.{recording.remarks}", file=sys.stderr)
    else:
        transport, key = hub_and_key(options)
        recording = read(options.file)
        send(recording, transport, key, options.environment)
        print(f"Sent {recording.size}, refused none.{recording.remarks}")


@dataclass(frozen=True)
class Recording:
    """What one file came to. entries: wire observations. operations: the catalog that they alone make."""

    entries: Sequence[Mapping[str, Any]]
    operations: Sequence[Mapping[str, Any]]
    skipped: Counter[Skip]
    left_out: Counter[LeftOut]

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
        return "".join(told)


def read(path: str) -> Recording:
    """Sum up a whole file, with a progress bar where somebody watches."""
    observations, skipped, left_out = Observations(), Counter[Skip](), Counter[LeftOut]()
    with progress_bar("Reading") as progress:
        for item in read_har(path, now=time.time(), progress=progress):
            if isinstance(item, Skip):
                skipped[item] += 1
            elif len((known := template(item.path)).path) > MAX_PATH:
                skipped[Skip.TOO_LARGE] += 1
            else:
                _add(observations, item, known, left_out)
    entries = list(observations.entries())
    return Recording(entries, preview(entries), skipped, left_out)


def send(recording: Recording, transport: Transport, key: str, environment: str | None) -> None:
    """Deliver under report ids that follow from the content, so that sending again changes nothing."""
    try:
        send_observations(
            recording.entries,
            api_key=key,
            transport=transport,
            environment=environment,
            report_id=content_report_id,
        )
    except ReportError as error:
        sent, total = _observed(recording.entries[: error.sent]), _observed(recording.entries)
        again = " What was sent counts once, however often the file is sent." if sent else ""
        counted = f"Sent {sent} of {_counted(total, 'observation')}, refused {total - sent}."
        raise Undelivered(f"{error} {counted}{again}{recording.remarks}") from None


def _add(observations: Observations, exchange: Exchange, known: Template, left_out: Counter[LeftOut]) -> None:
    def kept(body: "Json | Absent | LeftOut") -> "Json | Absent":
        if isinstance(body, LeftOut):
            left_out[body] += 1
            return ABSENT
        return body

    observations.add(
        exchange.method,
        known,
        exchange.status,
        at=exchange.at,
        query=exchange.query or None,
        request=kept(exchange.request),
        response=kept(exchange.response),
    )


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
