"""The commands `affidavit tools lock` and `affidavit tools verify`: their arguments, and what they print."""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from affidavit._cli._download import NOT_FROM_A_HUB, HubReader, replace_file, require_regular_file
from affidavit._cli._hub_options import Undelivered, add_hub_options
from affidavit._cli.tools.history import History
from affidavit._cli.tools.lock_file import (
    ADDED,
    ALTERED,
    CHANGED,
    REMOVED,
    Difference,
    compare_with_lock,
    encode_lock,
    read_lock,
)
from affidavit._errors import escape_unprintable
from affidavit._json import Json
from affidavit.operations import strip_names

_LOCK_DESCRIPTION = """Write each tool of an environment with its digest into a file, to be committed beside the code
that relies on the tools. The same tools give the same bytes."""
_VERIFY_DESCRIPTION = """Compare the tools of an environment with a lock, and name what changed, and when. Exit status
0: every tool is as it was locked; 1: some are not, or the file was altered; 2: it could not be verified."""

_TARGET = "/api/catalog/mcp.json"
_DEFAULT_FILE, _DEFAULT_ENVIRONMENT = Path("tools.lock"), "production"
_SAME, _DIFFERENT, _UNVERIFIED = 0, 1, 2
_KINDS = (ADDED, REMOVED, CHANGED, ALTERED)
_KIND_WIDTH = max(map(len, _KINDS))
_ALTERED_TEXT = "its digest does not fit its definition in the file"


def add_parser(commands: Any) -> None:
    """Add this command to argparse's subcommands."""
    tools = commands.add_parser("tools", help="lock what the tools of an API promise, and verify it")
    actions = tools.add_subparsers(metavar="ACTION", required=True)
    for name, action, summary, description in (
        ("lock", lock, "write the tools into a file", _LOCK_DESCRIPTION),
        ("verify", verify, "compare the tools with a file", _VERIFY_DESCRIPTION),
    ):
        parser = actions.add_parser(name, help=summary, description=description)
        parser.add_argument(
            "file", metavar="FILE", nargs="?", type=Path, default=_DEFAULT_FILE, help="default %(default)s"
        )
        add_hub_options(parser, own_environment="that of the lock" if action is verify else "")
        parser.set_defaults(run=action, undone=_UNVERIFIED)


def lock(options: argparse.Namespace) -> int:
    """Write the lock. Raises UsageError or Undelivered; the file is replaced completely or not at all."""
    require_regular_file(options.file)
    hub = HubReader.from_options(options)
    environment = options.environment or _DEFAULT_ENVIRONMENT
    definitions = _read_definitions(hub, environment)
    replace_file(options.file, encode_lock(environment, definitions))
    print(f"{options.file}: locked {_count_tools(len(definitions))} of {environment}.")
    return _SAME


def verify(options: argparse.Namespace) -> int:
    """Print the differences. Raises UsageError or Undelivered."""
    tools_lock = read_lock(options.file)
    hub = HubReader.from_options(options)
    environment = options.environment or tools_lock.environment
    definitions = _read_definitions(hub, environment)
    differences = compare_with_lock(tools_lock, definitions)
    if not differences:
        print(f"{options.file}: {_count_tools(len(definitions))} of {escape_unprintable(environment)}, all as locked.")
        return _SAME
    counts = Counter(difference.kind for difference in differences)
    unchanged_count = len(tools_lock.tools.keys() - {difference.name for difference in differences})
    summary = ", ".join(
        [*(f"{counts[kind]} {kind}" for kind in _KINDS if counts[kind]), f"{unchanged_count} as locked"]
    )
    print(f"{options.file}: the tools of {escape_unprintable(environment)} differ: {summary}.")
    for line in _format_differences(differences, History(hub, environment)):
        print(escape_unprintable(line))
    return _DIFFERENT


def _read_definitions(hub: HubReader, environment: str) -> dict[str, Json]:
    """Return the present tools by name."""
    document = hub.get_document(f"{_TARGET}?{urlencode({'environment': environment})}", "tools")
    try:
        definitions = {str(tool["name"]): tool for tool in document["tools"]}
    except (KeyError, TypeError):
        raise Undelivered(NOT_FROM_A_HUB) from None
    if len(definitions) < len(document["tools"]):
        raise Undelivered("The answer has two tools of one name, of which an assistant may use either. Report it.")
    return definitions


def _format_differences(differences: Sequence[Difference], history: History) -> Iterator[str]:
    added_names = {strip_names(tool.operation): tool.name for tool in differences if tool.kind == ADDED}
    for difference in differences:
        details = _ALTERED_TEXT if difference.kind == ALTERED else ""
        if difference.kind == ADDED:
            details = history.describe_addition(difference.operation)
        new_name = added_names.get(strip_names(difference.operation))
        if difference.kind == REMOVED and difference.operation and new_name:
            details = f"renamed to {new_name}"
        name = f"{difference.name} ({difference.operation})" if difference.operation else difference.name
        yield f"{difference.kind:{_KIND_WIDTH}}  {name}{': ' if details else ''}{details}"
        for change in difference.changes:
            since = history.describe_change(difference.operation, change)
            yield f"{'':{_KIND_WIDTH}}    {change.subject}: {change.text}{'; ' if since else ''}{since}"


def _count_tools(number: int) -> str:
    return f"{number:,} tool{'' if number == 1 else 's'}"
