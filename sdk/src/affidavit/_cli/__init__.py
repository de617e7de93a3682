"""The command `affidavit`: one module per subcommand, one way to end."""

import argparse
import os
import sys
from collections.abc import Sequence

from affidavit._cli import catalog, har, outcomes, verify
from affidavit._cli._hub import Undelivered, UsageError
from affidavit._errors import HarError
from affidavit._version import __version__

DONE, REFUSED, UNUSABLE, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    0: all was done. 1: the hub refused or could not be reached; the intent was rejected. 2: wrong usage or an
    unreadable file. 3: all was done, and the file that was pulled has changed. 130: interrupted. What went wrong
    stands in one line on standard error.
    """
    options = _parser().parse_args(arguments)
    try:
        status: int | None = options.run(options)
        sys.stdout.flush()
        return DONE if status is None else status
    except (UsageError, HarError) as error:
        return _failed(UNUSABLE, str(error))
    except Undelivered as error:
        return _failed(REFUSED, str(error))
    except OSError as error:  # only writing our output is left to raise it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the flush at exit fails again
        return _failed(REFUSED, f"the output cannot be written: {error.strerror}.")
    except KeyboardInterrupt:
        return _failed(INTERRUPTED, "interrupted.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="affidavit", description="Affidavit from a shell.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    catalog.add_to(commands)
    outcomes.add_to(commands)
    har.add_to(commands)
    verify.add_to(commands)
    return parser


def _failed(status: int, message: str) -> int:
    print(f"affidavit: {' '.join(message.split())}", file=sys.stderr)
    return status
