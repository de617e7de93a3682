"""The command `affidavit`. Each subcommand is a module; exit statuses and messages are handled here."""

import argparse
import io
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from affidavit._cli import annotate, catalog, conform, har, outcomes, verify
from affidavit._cli._hub_options import Undelivered, UsageError
from affidavit._cli.tools import commands as tools
from affidavit._errors import HarError, escape_unprintable
from affidavit._version import __version__

_SURROGATE = re.compile("[\ud800-\udfff]")
_FILE_NAMES = ("file", "header_file", "body_file", "secret_file")
_FILES = frozenset({*_FILE_NAMES, "command"})
_POSITIONAL = frozenset({"file", "text"})
_DONE, _REFUSED, _UNUSABLE, _INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    0: done. 1: the hub refused or could not be reached; the intent was rejected; a test vector failed; tools are not as
    locked; the output cannot be written. 2: wrong usage or an unreadable file; for `tools`, also that the hub refused
    or could not be reached, or that the output cannot be written. 3: done, and the pulled file has changed. 130:
    interrupted. An error is one line on standard error.
    """
    undone = _REFUSED
    try:
        _discard_closed_outputs()
        _escape_unencodable_output()
        options = _parse_arguments(arguments)
        undone = options.undone
        _refuse_undecodable(options)
        _refuse_empty_file_names(options)
        status: int | None = options.run(options)
        sys.stdout.flush()
        return _DONE if status is None else status
    except (UsageError, HarError) as error:
        return _report_failure(_UNUSABLE, str(error))
    except Undelivered as error:
        return _report_failure(undone, str(error))
    except OSError as error:  # only writing the output can raise it here
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the flush at exit fails again
        return _report_failure(undone, f"the output cannot be written: {error.strerror}.")
    except KeyboardInterrupt:
        return _report_failure(_INTERRUPTED, "interrupted.")


def _parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    try:
        return _build_parser().parse_args(arguments)
    except SystemExit:
        sys.stdout.flush()  # a help that cannot be written is an error
        raise


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="affidavit", description="Affidavit from a shell.")
    parser.set_defaults(undone=_REFUSED)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    annotate.add_parser(commands)
    catalog.add_parser(commands)
    conform.add_parser(commands)
    outcomes.add_parser(commands)
    har.add_parser(commands)
    tools.add_parser(commands)
    verify.add_parser(commands)
    return parser


def _discard_closed_outputs() -> None:
    """Discard what is written to an output that was closed before this process began, as by `>&-` of a shell."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # open until the process ends


def _escape_unencodable_output() -> None:
    """Escape characters that the output cannot encode, as on Windows, or in the name of a file that is not UTF-8."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _refuse_undecodable(options: argparse.Namespace) -> None:
    """Raise UsageError for a text that is not UTF-8, for it cannot be sent. The names of files may be any bytes."""
    for name, value in vars(options).items():
        texts = [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]
        if name not in _FILES and any(_SURROGATE.search(text) for text in texts):
            raise UsageError(f"{_name_argument(name)} is not text in UTF-8. Check the encoding of your terminal.")


def _refuse_empty_file_names(options: argparse.Namespace) -> None:
    """Raise UsageError for a path without a name, as an empty text is."""
    for name in _FILE_NAMES:
        path = getattr(options, name, None)
        if path is not None and not Path(path).name:
            raise UsageError(f"{_name_argument(name)} names no file. Is the variable that you pass set?")


def _name_argument(name: str) -> str:
    return name.upper() if name in _POSITIONAL else f"--{name.replace('_', '-')}"


def _report_failure(status: int, message: str) -> int:
    print(f"affidavit: {escape_unprintable(' '.join(message.split()))}", file=sys.stderr)
    return status
