"""`affidavit annotate`: say what happened, so that the hub's charts show it."""

import argparse
import json
import re
import uuid
from typing import Any

from affidavit._cli._hub_options import Undelivered, UsageError, add_hub_options, read_hub_options
from affidavit._cli._times import parse_time
from affidavit._errors import HubUnreachable, ReportError, escape_unprintable
from affidavit._hub.api_keys import KEY_HEADER
from affidavit._hub.responses import HubAnswer, bad_answer, parse_answer

_ANNOTATIONS_PATH = "/api/annotations"
_REPEAT_HEADER = "idempotent-replayed"
_DESCRIPTION = """Mark what happened (a deploy, a campaign) on every chart of an environment. With --once KEY, repeating
the command within a day adds nothing, and says so. KEY is, for example, the id of the pipeline. The API key needs
the scope report."""

_UNCERTAIN = " The annotation may have been recorded all the same; with --once KEY, repeating adds nothing."
_IDEMPOTENCY_KEY = re.compile("[!-~]{1,255}")


def add_parser(commands: Any) -> None:
    """Add this command to argparse's subcommands."""
    parser = commands.add_parser("annotate", help="mark what happened on the hub's charts", description=_DESCRIPTION)
    parser.add_argument("text", metavar="TEXT", help="1 to 200 characters, such as: Deploy 4.2")
    parser.add_argument("--at", type=parse_time, metavar="TIME", help="2030-01-31T10:00Z, or Unix seconds; default now")
    parser.add_argument("--url", metavar="URL", help="a link to more information: http or https")
    parser.add_argument("--all-environments", action="store_true", help="mark it in all environments")
    parser.add_argument("--once", metavar="KEY", help="a second call with the same key adds nothing")
    add_hub_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Run the command. Raises UsageError or Undelivered."""
    if not options.text.strip():
        raise UsageError("TEXT is empty. Say what happened, such as: Deploy 4.2")
    if options.once == "":
        raise UsageError("--once is empty. Is the variable that you pass set?")
    if options.once is not None and not _IDEMPOTENCY_KEY.fullmatch(options.once):
        raise UsageError("--once must be 1 to 255 visible ASCII characters, without spaces.")
    transport, key = read_hub_options(options)
    headers = {KEY_HEADER: key, "Idempotency-Key": options.once or str(uuid.uuid4())}
    try:
        answer = transport.post(_ANNOTATIONS_PATH, _encode_body(options), headers)
        _require_receipt(answer)
    except ReportError as error:
        if options.once and error.code == "idempotency-key-reused":
            raise UsageError("--once: this key was used with another text within a day. Give another key.") from None
        is_uncertain = error.was_sent if isinstance(error, HubUnreachable) else (error.status or 0) >= 500
        raise Undelivered(f"{error}{_UNCERTAIN if is_uncertain and not options.once else ''}") from None
    is_repeat = options.once and answer.headers.get(_REPEAT_HEADER) == "true"
    print(f"{'Was already recorded' if is_repeat else 'Annotated'}: {escape_unprintable(options.text)}")


def _require_receipt(answer: HubAnswer) -> None:
    """Raise ReportError if the answer does not come from a hub."""
    receipt = parse_answer(answer)
    if not (isinstance(receipt, dict) and "annotationId" in receipt):
        raise bad_answer(answer.status)


def _encode_body(options: argparse.Namespace) -> bytes:
    members = {
        "environment": options.environment,
        "text": options.text,
        "at": options.at,
        "url": options.url,
        "allEnvironments": options.all_environments or None,
    }
    return json.dumps({name: value for name, value in members.items() if value is not None}).encode()
