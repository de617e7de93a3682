"""What a command that deletes prints: how many rows were deleted, by table."""

from __future__ import annotations

import json
from collections.abc import Mapping


def format_deleted_rows(rows: Mapping[str, int], *, as_json: bool) -> str:
    if as_json:
        return json.dumps({"deleted": rows})
    return "\n".join(f"{count:>10}  {table}" for table, count in sorted(rows.items())) or "Nothing to delete."
