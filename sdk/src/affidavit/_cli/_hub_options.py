"""The options and errors of every command that talks to a hub."""

import argparse

from affidavit._credentials import ENVIRONMENT_VARIABLE, KEY_VARIABLE, read_variable
from affidavit._errors import AffidavitError, ReportError
from affidavit._hub.api_keys import require_secret_key
from affidavit._hub.base_url import DEFAULT_BASE_URL
from affidavit._hub.transport import HttpTransport


class UsageError(AffidavitError):
    """The options or files of a command cannot be used."""


class Undelivered(AffidavitError):
    """The hub refused, or could not be reached."""


def add_hub_options(parser: argparse.ArgumentParser, *, own_environment: str = "") -> None:
    """Add the options for address, key and environment of the hub.

    own_environment: from where else the command takes the environment, in words for the help. The command then ignores
        the environment variable.
    """
    parser.add_argument("--hub", metavar="URL", help=f"or AFFIDAVIT_HUB; default {DEFAULT_BASE_URL}")
    parser.add_argument("--key", metavar="KEY", help="a secret key; AFFIDAVIT_API_KEY is safer: ps shows options")
    parser.add_argument(
        "--environment", metavar="NAME", default=None if own_environment else read_variable(None, ENVIRONMENT_VARIABLE),
        help=f"default {own_environment or f'{ENVIRONMENT_VARIABLE}, or production'}",
    )  # fmt: skip


def read_hub_options(options: argparse.Namespace) -> tuple[HttpTransport, str]:
    """Return transport and key from the options, else from the environment variables.

    Raises UsageError if one of them is missing or invalid, or if an environment is passed that is empty.
    """
    for name, value in (("key", options.key), ("environment", options.environment)):
        if value == "":
            raise UsageError(f"--{name} is empty. Is the variable that you pass set?")
    key = options.key or read_variable(None, KEY_VARIABLE)
    if not key:
        without_key = "; --dry-run needs none" if hasattr(options, "dry_run") else ""
        raise UsageError(f"No API key. Set AFFIDAVIT_API_KEY or pass --key{without_key}.")
    try:
        return HttpTransport(options.hub), require_secret_key(key)
    except ReportError as error:
        raise UsageError(error.detail) from None
