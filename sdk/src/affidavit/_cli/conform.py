"""`affidavit conform`: run any program against the test vectors of contract §3, and print a score."""

import argparse
import asyncio
import json
import math
import os
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from affidavit._cli._hub_options import UsageError
from affidavit._conformance.run import MAX_FAULTS_IN_ROW, Result, run_vectors
from affidavit._conformance.vectors import JsonObject, Vector, load_vectors

_DESCRIPTION = """Run a program against the test vectors of the contract: it reads one JSON object per line and writes
one per line, as docs/conformance.md describes. Exit status: 0 when every vector passes, 1 when one fails."""

_DEFAULT_TIME_LIMIT = 10.0
_MAX_SHOWN = 400


def add_parser(commands: Any) -> None:
    """Add this command to argparse's subcommands."""
    parser = commands.add_parser("conform", help="score a verifier against the test vectors", description=_DESCRIPTION)
    parser.add_argument(
        "--exec", metavar="COMMAND", required=True, dest="command",
        help="the program and its arguments as one text: 'node verifier.mjs'. No shell runs it",
    )  # fmt: skip
    parser.add_argument(
        "--time-limit", metavar="SECONDS", type=_parse_seconds, default=_DEFAULT_TIME_LIMIT,
        help="for each answer; default %(default)g",
    )  # fmt: skip
    parser.set_defaults(run=run)


def _parse_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError("give a number of seconds above 0")
    return seconds


def run(options: argparse.Namespace) -> int:
    """Return the exit status. Raises UsageError if the program cannot be started."""
    vectors = load_vectors()
    try:
        results = asyncio.run(run_vectors(split_command(options.command), vectors, time_limit=options.time_limit))
    except OSError as error:
        raise UsageError(f"The program cannot be started: {error.strerror}.") from None
    for line in format_score(vectors, results):
        print(line)
    return 0 if all(result.is_passed for result in results) and len(results) == len(vectors) else 1


def split_command(command: str, system: str = os.name) -> list[str]:
    """Return the words of a command. Raises UsageError.

    system: a value of `os.name`. On Windows a backslash separates folders; elsewhere it escapes, as in a shell.
    """
    lexer = shlex.shlex(command, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    if system == "nt":
        lexer.escape = ""
    try:
        words = list(lexer)
    except ValueError as fault:
        raise UsageError(f"--exec cannot be split into words: {fault}.") from None
    if not words:
        raise UsageError("--exec is empty. Give the program and its arguments.")
    return words


def format_score(vectors: Sequence[Vector], results: Sequence[Result]) -> Iterator[str]:
    """Yield the failed vectors, the score of each group and the total as lines for a terminal."""
    for result in results:
        if not result.is_passed:
            yield from _format_failure(result)
    if len(results) < len(vectors):
        yield (
            f"No answer {MAX_FAULTS_IN_ROW} times in a row. Not run, and counted as failed: "
            f"{len(vectors) - len(results)} of {len(vectors)} vectors."
        )
        yield ""
    pass_counts = Counter(result.vector.group for result in results if result.is_passed)
    totals = Counter(vector.group for vector in vectors)
    width = max(map(len, totals))
    for group, total in totals.items():
        yield f"{group:{width}}  {pass_counts[group]:4} of {total:4}"
    yield f"{pass_counts.total()} of {totals.total()} vectors pass"


def _format_failure(result: Result) -> Iterator[str]:
    yield f"FAIL  {result.vector.name}"
    if result.vector.description:
        yield f"      {result.vector.description}"
    yield f"      expected  {_format_members(result.vector.expected)}"
    yield f"      actual    {_format_members(result.answer) if result.answer is not None else result.fault}"
    yield ""


def _format_members(members: JsonObject) -> str:
    """Return the members as JSON in ASCII; of a long text its beginning, and how much is left out."""
    text = json.dumps(members)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}… ({len(text) - _MAX_SHOWN} more characters)"
