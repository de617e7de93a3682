"""Say since when a tool differs and in how many observations, as far as the hub knows it."""

from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

from affidavit._cli._download import HubReader
from affidavit._cli._hub_options import Undelivered
from affidavit._cli.tools.changes import ToolChange
from affidavit.operations import strip_names

MAX_VERSIONS_READ = 20  # because each costs a request
_PAGES = {"operations": "catalog", "drift": "drift", "hint-rules": "rules"}  # the page that has each table
_UNEXPECTED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, OSError)  # rows of another version

Row = Mapping[str, Any]


class History:
    """The history of an environment's operations, as the hub tells it; empty if the hub does not answer.

    The difference of a tool is known without these pages, so a hub that lacks them must not hide the difference.
    """

    def __init__(self, hub: HubReader, environment: str) -> None:
        self._hub = hub
        self._prefix = f"/w/-/{quote(environment, safe='')}"
        # By table, then by operation with nameless parameters; the latest drift and the latest hint rule come first.
        self._rows = {table: self._read_by_operation(table, page) for table, page in _PAGES.items()}
        self._versions: dict[str, list[Row]] = {}

    def describe_addition(self, operation: str) -> str:
        """Return `first seen 2026-11-20 10:00 UTC, 14 observations`; "" if it is not known."""
        with suppress(*_UNEXPECTED):
            return self._describe_addition(operation)
        return ""

    def describe_change(self, operation: str, change: ToolChange) -> str:
        """Return words such as `since 2026-11-20 10:00 UTC, in 12 of 15 observations`; "" if nothing is known."""
        with suppress(*_UNEXPECTED):
            return self._describe_change(operation, change)
        return ""

    def _describe_addition(self, operation: str) -> str:
        for row in self._list_rows("operations", operation):
            count = f"{row['observations']:,} observation{'' if row['observations'] == 1 else 's'}"
            return f"first seen {_format_time(row['firstSeenAt'])}, {count}"
        return ""

    def _describe_change(self, operation: str, change: ToolChange) -> str:
        for row in self._list_rows("hint-rules", operation):
            if row["hint"] == change.subject:
                undone_at = row.get("undoneAt") or row.get("takenBackAt")  # the second is that of hubs before 0.1.0
                return f"since {_format_time(undone_at or row['at'])}, on the operation's page"
        for row in self._list_rows("drift", operation):
            is_of_node = change.part and row["part"].startswith(change.part) and row["pointer"] == change.pointer
            # A description says what the responses contain, so their drift changes it.
            is_described = change.subject == "description" and row["part"].isdigit()
            if (is_of_node or is_described) and row["since"] is not None:
                return f"since {_format_time(row['since'])}{_format_counts(row)}"
            if is_of_node or is_described:
                return f"last seen on {row['lastDay']}, absent {row['of']:,} times in a row when detected"
        return self._describe_override(operation) if change.part else ""

    def _describe_override(self, operation: str) -> str:
        """Return since when the operation has its latest version, if a manual override made it.

        Such a version has no drift.
        """
        for version in self._list_versions(operation)[:1]:
            if version["byHand"]:
                return f"since {_format_time(version['at'])}, by a manual override"
        return ""

    def _list_versions(self, operation: str) -> list[Row]:
        """Return the versions of an operation, the latest first.

        Only for the first MAX_VERSIONS_READ operations; [] for others.
        """
        if operation not in self._versions and len(self._versions) < MAX_VERSIONS_READ:
            method, _, path = operation.partition(" ")
            self._versions[operation] = self._read_rows("versions", "operation", method=method, path=path)
        return self._versions.get(operation, [])

    def _list_rows(self, table: str, operation: str) -> list[Row]:
        return self._rows[table].get(strip_names(operation), [])

    def _read_by_operation(self, table: str, page: str) -> dict[str, list[Row]]:
        rows: defaultdict[str, list[Row]] = defaultdict(list)
        with suppress(*_UNEXPECTED):
            for row in self._read_rows(table, page):
                rows[strip_names(f"{row['method']} {row['path']}")].append(row)
        return rows

    def _read_rows(self, table: str, page: str, **query: str) -> list[Row]:
        target = f"{self._prefix}/{page}.json?{urlencode({'range': 'all', **query})}"
        try:
            rows: list[Row] = self._hub.get_document(target, "tables")["tables"][table]
        except (Undelivered, KeyError, TypeError):
            return []
        return rows


def _format_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _format_counts(row: Row) -> str:
    if row["of"] is None:
        return f", {row['seen']:,} time{'s' if row['seen'] > 1 else ''}" if row["seen"] else ""
    return f", in {row['seen']:,} of {row['of']:,} observations"
