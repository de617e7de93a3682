"""The tag of an operation in OpenAPI, by which readers group operations (pure)."""

from __future__ import annotations

import re

from catalog.downloads.operation_summaries import split_literals

TAG = re.compile(r"[\w.~-]+")


def choose_tag(path: str) -> str | None:
    """Return the segment by which readers group operations: the first literal one after a prefix such as `/api/v1`.

    If the path ends after the prefix, or a parameter follows at once, return the first segment of the prefix.
    """
    runs = (TAG.search(segment) for segments, _ in split_literals(path) for segment in segments)
    return next((match[0] for match in runs if match), None)
