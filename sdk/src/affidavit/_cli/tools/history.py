"""Since when a tool differs, and in how many observations, as far as the hub knows it."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from affidavit._cli._download import HubReader
from affidavit._cli._hub import Undelivered
from affidavit._cli.tools.changes import ToolChange
from affidavit.operations import strip_names

_PAGES = {"operations": "catalog", "drift": "drift", "hint-rules": "rules"}  # by table

Row = Mapping[str, Any]


@dataclass
class History:
    """Rows of the hub's pages by operation, with nameless templates: when it was first seen, its drift, its hint rules.

    drift, hint-rules: the latest first.
    """

    rows: dict[str, dict[str, list[Row]]] = field(default_factory=dict)

    @classmethod
    def read(cls, hub: HubReader, environment: str) -> "History":
        """Return what this hub knows; nothing for what it does not answer."""
        return cls({table: _read_rows(hub, environment, table) for table in _PAGES})

    def describe_addition(self, operation: str) -> str:
        """Return `first seen 2026-11-20 10:00 UTC, 14 observations`; "" if it is not known."""
        for row in self._list_rows("operations", operation):
            return f"first seen {_format_time(row['firstSeenAt'])}, {row['observations']:,} observations"
        return ""

    def describe_change(self, operation: str, change: ToolChange) -> str:
        """Return `since 2026-11-20 10:00 UTC, in 12 of 15 observations`; "" if it is not known."""
        for row in self._list_rows("hint-rules", operation):
            if row["hint"] == change.subject:
                return f"since {_format_time(row['takenBackAt'] or row['at'])}, on the operation's page"
        for row in self._list_rows("drift", operation):
            is_of_node = change.part and row["part"].startswith(change.part) and row["pointer"] == change.pointer
            is_described = change.subject == "description" and row["part"].isdigit()  # it names what is answered
            if (is_of_node or is_described) and row["since"] is not None:
                return f"since {_format_time(row['since'])}{_format_counts(row)}"
        return ""

    def _list_rows(self, table: str, operation: str) -> list[Row]:
        return self.rows.get(table, {}).get(strip_names(operation), [])


def _read_rows(hub: HubReader, environment: str, table: str) -> dict[str, list[Row]]:
    target = f"/w/-/{quote(environment, safe='')}/{_PAGES[table]}.json?range=all"
    rows: defaultdict[str, list[Row]] = defaultdict(list)
    try:
        for row in hub.get_json(target)["tables"].get(table, ()):
            rows[strip_names(f"{row['method']} {row['path']}")].append(row)
    except (Undelivered, KeyError, TypeError, AttributeError):
        return {}  # the difference itself is known: a hub without such pages must not hide it
    return rows


def _format_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _format_counts(row: Row) -> str:
    if row["of"] is None:
        return f", {row['seen']:,} times" if row["seen"] else ""
    return f", in {row['seen']:,} of {row['of']:,} observations"
