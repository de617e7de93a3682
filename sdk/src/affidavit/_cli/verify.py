"""`affidavit verify`: check one intent against one request, step by step. No nonce is burnt, nothing is sent."""

import argparse
import os
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from affidavit._cli._hub_options import UsageError
from affidavit._cli._times import parse_time
from affidavit._credentials import AUDIENCE_VARIABLE, SECRET_VARIABLE, WORKSPACE_VARIABLE, read_variable
from affidavit._errors import end_sentence, escape_unprintable
from affidavit._intents.check_descriptions import Check
from affidavit._intents.nonces import MemoryNonces
from affidavit._intents.reasons import REASONS
from affidavit._intents.verifier import IntentVerifier

_DESCRIPTION = """Check an intent against the request that carries it and print every check in order, with the
signed and the actual value unless they are secret. Checks after a failed one run as well, if they can. Only your
backend's store knows whether the nonce was used before. Exit status: 0 when every check passes, 1 when one fails."""

_HEADER, _WORKSPACE_PREFIX = "x-service-intent", "ws_"
_STANDARD_INPUT = "-"
_LINE_WIDTH = 100
_INDENT = " " * 6
_MARKS = {"passed": "ok  ", "failed": "FAIL", "not-bound": "n/a ", "not-reached": "-   "}
_NONCE_UNKNOWN = "Only your backend's store knows whether this intent was used before; it was not asked."


def add_parser(commands: Any) -> None:
    """Add this command to argparse's subcommands."""
    parser = commands.add_parser("verify", help="check an intent against a request", description=_DESCRIPTION)
    header = parser.add_mutually_exclusive_group(required=True)
    header.add_argument("--header", metavar="VALUE", help="the value of X-Service-Intent")
    header.add_argument("--header-file", metavar="FILE", help="a file that holds it; - is standard input")
    parser.add_argument("--method", required=True)
    parser.add_argument("--path", required=True, help="as routed, decoded; what follows a ? is the query")
    parser.add_argument("--body-file", metavar="FILE", help="the body as it was received; - is standard input")
    parser.add_argument("--content-type", metavar="TYPE", default="application/json", help="default %(default)s")
    parser.add_argument("--content-encoding", metavar="VALUE", help="of the body, if the request had that header")
    parser.add_argument("--workspace", metavar="ID", help=f"the backend's own: ws_…; or {WORKSPACE_VARIABLE}")
    parser.add_argument("--audience", help=f"the backend's own; or {AUDIENCE_VARIABLE}")
    _add_secret_options(parser)
    parser.add_argument("--operation", help="the operation that the view declares, if it does")
    parser.add_argument("--minimum-version", type=int, choices=(1, 2), help="the version that the route demands")
    parser.add_argument("--step-up", action="store_true", help="assume that the user has stepped up")
    parser.add_argument(
        "--at", type=parse_time, metavar="TIME", help="check as of this time: 2030-01-31T10:00Z, or Unix seconds"
    )
    parser.set_defaults(run=run)


def _add_secret_options(parser: argparse.ArgumentParser) -> None:
    secret = parser.add_mutually_exclusive_group()
    secret.add_argument("--secret-file", metavar="FILE", help="a file that holds the signing secret")
    secret.add_argument("--secret-env", metavar="NAME", default=SECRET_VARIABLE, help="default %(default)s")


def run(options: argparse.Namespace) -> int:
    """Return the exit status. Raises UsageError, whose message repeats no secret."""
    if options.header_file == options.body_file == _STANDARD_INPUT:
        raise UsageError("Only one of --header-file and --body-file can be standard input.")
    header = _strip_name(options.header if options.header_file is None else _read_text(options.header_file))
    body = b"" if options.body_file is None else _read_bytes(options.body_file)
    if not options.path.startswith("/"):
        raise UsageError("--path is the path of the request, without scheme and host, such as /orders/17.")
    path, _, query = options.path.partition("?")
    checks = _build_verifier(options).explain(
        header, options.method, path, query, body, options.content_type if body else None,
        operation=options.operation, minimum_version=options.minimum_version,
        content_encoding=options.content_encoding,
    )  # fmt: skip
    for line in format_checks(checks):
        print(line)
    return 1 if any(check.state == "failed" for check in checks) else 0


def format_checks(checks: Sequence[Check]) -> Iterator[str]:
    """Yield the checks as lines for a terminal."""
    for check in checks:
        is_unknown = check.name == "nonce" and check.state == "passed"
        yield f"{_MARKS['not-bound' if is_unknown else check.state]}  {check.title}"
        if check.signed is not None:
            yield f"{_INDENT}signed  {escape_unprintable(check.signed)}"
        if check.actual is not None:
            yield f"{_INDENT}actual  {escape_unprintable(check.actual)}"
        if check.reason is not None:
            yield from _wrap(f"{check.reason}: {escape_unprintable(check.detail)}")
            yield from _wrap(REASONS[check.reason].usual_fix)
        elif is_unknown:
            yield from _wrap(_NONCE_UNKNOWN)


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(text, _LINE_WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)


def _strip_name(header: str) -> str:
    """Return the value of a header that was copied with its name."""
    name, colon, value = header.partition(":")
    return value.strip() if colon and name.strip().lower() == _HEADER else header


def _build_verifier(options: argparse.Namespace) -> IntentVerifier:
    for option, name in (("workspace", WORKSPACE_VARIABLE), ("audience", AUDIENCE_VARIABLE)):
        if not read_variable(getattr(options, option), name):
            raise UsageError(f"No {option}. Set {name}, or pass --{option}.")
    if not str(read_variable(options.workspace, WORKSPACE_VARIABLE)).startswith(_WORKSPACE_PREFIX):
        raise UsageError(f"--workspace is the id, which begins with {_WORKSPACE_PREFIX}, and not the name.")
    clock = time.time if options.at is None else lambda: options.at
    nonces = MemoryNonces(several_workers=True)
    try:
        return IntentVerifier(
            secrets=_read_secret(options), workspace=options.workspace, audience=options.audience, nonces=nonces,
            step_up=lambda *_: options.step_up, now=clock,
        )  # fmt: skip
    except ValueError as fault:  # such as a weak secret or an empty workspace: the message repeats no value
        raise UsageError(end_sentence(f"This cannot be checked: {fault}")) from None


def _read_secret(options: argparse.Namespace) -> str:
    if options.secret_file is not None:
        return _read_text(options.secret_file)
    if not options.secret_env:
        raise UsageError("--secret-env is empty. Name the variable that holds the signing secret.")
    secret = os.environ.get(options.secret_env)
    if not secret:
        raise UsageError(f"No signing secret. Set {options.secret_env}, or pass --secret-file.")
    return secret


def _read_text(path: str) -> str:
    """Return a file's text without the byte order mark and the line end that editors add."""
    try:
        return _read_bytes(path).decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8.") from None


def _read_bytes(path: str) -> bytes:
    if path == _STANDARD_INPUT and sys.stdin is None:
        raise UsageError(f"{path} cannot be read: standard input is closed.")
    try:
        return sys.stdin.buffer.read() if path == _STANDARD_INPUT else Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
