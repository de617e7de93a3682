"""`affidavit outcomes`: a file of outcomes to the hub, in batches that may be sent again."""

import argparse
import json
import os
import re
import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from affidavit._cli._hub import Undelivered, add_hub_options, hub_and_key
from affidavit._cli._outcome_file import Line, check, lines
from affidavit._cli._progress import progress_bar
from affidavit._errors import ReportError
from affidavit._hub.api_keys import KEY_HEADER
from affidavit._hub.transport import Transport
from affidavit._outcomes.report import ITEM_NAMES, MAX_OUTCOMES, OUTCOMES_PATH, encode_body, read_receipt

DESCRIPTION = """Report the outcomes of a file: CSV with the columns conversationId and outcomeKey, or one JSON object
with these members on each line (.jsonl); nothing else of it is sent. All of a file goes to one environment. The file is
checked whole before anything is sent. An interrupted upload goes on where it stopped when the same command is run
again; sending a file twice creates no second outcome."""

NAMESPACE = uuid.UUID("0b8f5f0e-4c55-5d6b-9f0a-6f1a40b7d9e2")
IGNORED_SHOWN = 10
_POINTER = re.compile(r"/outcomes/(\d+)")


def add_to(commands: Any) -> None:
    """Add this command to argparse's subcommands."""
    parser = commands.add_parser("outcomes", help="report the outcomes of a file", description=DESCRIPTION)
    parser.add_argument("file", metavar="FILE", help="a .csv or .jsonl file")
    add_hub_options(parser)
    parser.add_argument("--dry-run", action="store_true", help="check the file, send nothing")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Raises UsageError or Undelivered."""
    path = Path(options.file)
    if options.dry_run:
        print(f"Nothing sent of {_counted(_checked(path))}; the file is in order.")
        return
    transport, key = hub_and_key(options)
    total = _checked(path)
    state = Progress.read(path, hub=options.hub, environment=options.environment)
    resumed = f" Went on after {_counted(state.items)} sent before." if state.items else ""
    send(path, transport, key, options.environment, state, total)
    unknown = state.items - state.recorded
    remark = f" {unknown} named a conversation that is not known: see the page Broken joins." if unknown else ""
    print(f"Sent {_counted(state.items)}, {state.recorded} recorded.{remark}{resumed}")


def _checked(path: Path) -> int:
    """How many outcomes the file has; says which of its columns or members stay here."""
    found = check(path)
    if found.ignored:
        names = ", ".join(map(repr, found.ignored[:IGNORED_SHOWN]))
        more = " and more" if len(found.ignored) > IGNORED_SHOWN else ""
        print(f"Ignored: {names}{more}. Only {' and '.join(ITEM_NAMES)} are sent.")
    return found.outcomes


@dataclass
class Progress:
    """How far a file was sent, kept beside it until all is; `digest` is of what was sent, in case the file changed."""

    file: Path
    target: str
    items: int = 0
    recorded: int = 0
    digest: str = ""

    @classmethod
    def read(cls, path: Path, *, hub: str | None, environment: str | None) -> "Progress":
        """What was kept for this file and target; from the beginning, where the file is another one by now."""
        target = sha256(json.dumps([hub or os.environ.get("AFFIDAVIT_HUB"), environment]).encode()).hexdigest()
        fresh = cls(path.with_name(path.name + ".progress"), target)
        try:
            kept = json.loads(fresh.file.read_text())
            found = cls(fresh.file, kept["target"], int(kept["items"]), int(kept["recorded"]), kept["digest"])
        except (OSError, ValueError, KeyError, TypeError):
            return fresh
        return found if found.target == target and found.digest == _digest(path, found.items) else fresh

    def write(self) -> None:
        """A folder that cannot be written costs only that the next run begins anew, which is harmless."""
        with suppress(OSError):
            kept = {name: value for name, value in asdict(self).items() if name != "file"}
            beside = self.file.with_name(self.file.name + ".new")
            beside.write_text(json.dumps(kept))
            beside.replace(self.file)

    def forget(self) -> None:
        with suppress(OSError):
            self.file.unlink(missing_ok=True)


def _digest(path: Path, items: int) -> str:
    running = sha256()
    for line in islice(lines(path), items):
        running.update(line.content)
    return running.hexdigest()


def send(path: Path, way: Transport, key: str, environment: str | None, state: Progress, total: int) -> None:
    """Send what is left of the file, batch by batch, and keep how far it came after each."""
    running = sha256()
    rest = lines(path)
    for line in islice(rest, state.items):
        running.update(line.content)
    with progress_bar("Sending") as progress:
        while batch := list(islice(rest, MAX_OUTCOMES)):
            state.recorded += _deliver(batch, way, key, environment, state.items)
            for line in batch:
                running.update(line.content)
            state.items, state.digest = state.items + len(batch), running.hexdigest()
            state.write()
            if progress:
                progress(state.items, total)
    state.forget()


def _deliver(batch: Sequence[Line], way: Transport, key: str, environment: str | None, before: int) -> int:
    """The Idempotency-Key follows from content and place: a batch sent again within a day changes nothing at all."""
    body = encode_body([line.item for line in batch], environment)
    name = sha256(b"%d " % before + body).hexdigest()
    headers = {KEY_HEADER: key, "Idempotency-Key": str(uuid.uuid5(NAMESPACE, name))}
    try:
        return read_receipt(way.post_json(OUTCOMES_PATH, body, headers)).recorded
    except ReportError as error:
        faulty = _faulty_lines(error, batch)
        raise Undelivered(f"{error}{faulty} Sent {_counted(before)} so far; run it again to go on.") from None


def _faulty_lines(error: ReportError, batch: Sequence[Line]) -> str:
    found = (_POINTER.match(fault.pointer) for fault in error.errors)
    numbers = sorted({batch[int(match[1])].number for match in found if match and int(match[1]) < len(batch)})
    return f" At fault: {_listed(numbers)}." if numbers else ""


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(f"line {number}" for number in numbers)


def _counted(number: int) -> str:
    return f"{number} outcome" if number == 1 else f"{number} outcomes"
