"""`affidavit outcomes`: send a file of outcomes, in batches that may be sent again."""

import argparse
import re
import uuid
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from affidavit._cli._hub_options import Undelivered, add_hub_options, read_hub_options
from affidavit._cli._outcome_file import OutcomeLine, check_file, read_lines
from affidavit._cli._progress_bar import show_progress_bar
from affidavit._cli._upload_progress import UploadProgress
from affidavit._errors import ReportError
from affidavit._hub.api_keys import KEY_HEADER
from affidavit._hub.responses import is_temporary
from affidavit._hub.transport import Transport
from affidavit._outcomes.report import ITEM_NAMES, MAX_OUTCOMES, OUTCOMES_PATH, encode_body, read_receipt

_DESCRIPTION = """Report the outcomes of a file: CSV with the columns conversationId and outcomeKey, split by commas,
semicolons or tabs, or one JSON object with these members on each line (.jsonl). Nothing else of it is sent. All of a
file goes to one environment. The file is checked whole before anything is sent. An interrupted upload goes on where
it stopped when the same command is run again; sending a file twice creates no second outcome."""

_NAMESPACE = uuid.UUID("0b8f5f0e-4c55-5d6b-9f0a-6f1a40b7d9e2")
_MAX_IGNORED_SHOWN = 10
_POINTER = re.compile(r"/outcomes/(\d+)")


def add_parser(commands: Any) -> None:
    """Add this command to argparse's subcommands."""
    parser = commands.add_parser("outcomes", help="report the outcomes of a file", description=_DESCRIPTION)
    parser.add_argument("file", metavar="FILE", help="a .csv or .jsonl file")
    add_hub_options(parser)
    parser.add_argument("--dry-run", action="store_true", help="check the file, send nothing")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Run the command. Raises UsageError or Undelivered."""
    path = Path(options.file)
    if options.dry_run:
        print(f"Dry run of {_format_outcomes(_check_and_report(path))}: nothing was sent; the file has no faults.")
        return
    transport, key = read_hub_options(options)
    total = _check_and_report(path)
    progress = UploadProgress.read(path, hub=options.hub, key=key, environment=options.environment)
    continuation = f" {_format_outcomes(progress.items)} had been sent before." if progress.items else ""
    send_file(path, transport, key, options.environment, progress, total)
    unknown = progress.items - progress.recorded
    remark = f" {unknown} named a conversation that is not known: see the page Broken joins." if unknown else ""
    print(f"Sent {_format_outcomes(progress.items)}, {progress.recorded} recorded.{remark}{continuation}")


def _check_and_report(path: Path) -> int:
    """Check the file, print which of its columns or members are not sent, and return the number of its outcomes."""
    summary = check_file(path)
    if summary.ignored_names:
        names = ", ".join(map(repr, summary.ignored_names[:_MAX_IGNORED_SHOWN]))
        more = " and more" if len(summary.ignored_names) > _MAX_IGNORED_SHOWN else ""
        print(f"Ignored: {names}{more}. Only {' and '.join(ITEM_NAMES)} are sent.")
    return summary.outcomes


def send_file(
    path: Path, channel: Transport, key: str, environment: str | None, progress: UploadProgress, total: int
) -> None:
    """Send the rest of the file in batches, and store the progress after each."""
    hasher = sha256()
    remaining_lines = read_lines(path)
    for line in islice(remaining_lines, progress.items):
        hasher.update(line.content)
    with show_progress_bar("Sending") as show_progress:
        while batch := list(islice(remaining_lines, MAX_OUTCOMES)):
            progress.recorded += _deliver(batch, channel, key, environment, progress.items)
            for line in batch:
                hasher.update(line.content)
            progress.items, progress.digest = progress.items + len(batch), hasher.hexdigest()
            progress.write()
            if show_progress:
                show_progress(progress.items, total)
    progress.forget()


def _deliver(
    batch: Sequence[OutcomeLine], channel: Transport, key: str, environment: str | None, items_before: int
) -> int:
    """Send a batch and return how many were recorded.

    The Idempotency-Key follows from content and position: a batch sent again within a day changes nothing.
    """
    body = encode_body([line.item for line in batch], environment)
    name = sha256(b"%d " % items_before + body).hexdigest()
    headers = {KEY_HEADER: key, "Idempotency-Key": str(uuid.uuid5(_NAMESPACE, name))}
    try:
        return read_receipt(channel.post_json(OUTCOMES_PATH, body, headers)).recorded
    except ReportError as error:
        faulty = _describe_faulty_lines(error, batch)
        condition = "" if is_temporary(error) or error.code == "unreachable" else "correct that, then "
        advice = f"{condition}run the command again to continue"
        raise Undelivered(f"{error}{faulty} Sent {_format_outcomes(items_before)} so far; {advice}.") from None


def _describe_faulty_lines(error: ReportError, batch: Sequence[OutcomeLine]) -> str:
    matches = (_POINTER.match(fault.pointer) for fault in error.errors)
    numbers = sorted({batch[int(match[1])].number for match in matches if match and int(match[1]) < len(batch)})
    return f" At fault: {_list_lines(numbers)}." if numbers else ""


def _list_lines(numbers: Iterable[int]) -> str:
    return ", ".join(f"line {number}" for number in numbers)


def _format_outcomes(number: int) -> str:
    return f"{number} outcome" if number == 1 else f"{number} outcomes"
