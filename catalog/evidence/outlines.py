"""The outline of an operation: its entry in `/api/catalog?evidence=0` (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

NO_BODY = {"type": "unknown", "reason": "empty"}

Descriptor = Mapping[str, Any]
Outline = Mapping[str, Any]


def has_body(descriptor: Descriptor) -> bool:
    return descriptor != NO_BODY


def list_outline_parts(outline: Outline) -> Iterator[tuple[str, Descriptor]]:
    """Yield `query`, `request` and the statuses whose responses had a body, each with its descriptor."""
    for part in ("query", "request"):
        if outline[part] is not None:
            yield part, outline[part]
    yield from ((status, response) for status, response in outline["responses"].items() if has_body(response))
