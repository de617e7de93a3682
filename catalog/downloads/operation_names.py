"""A short name for every operation (pure): `operationId` in OpenAPI, the name of a tool."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

from affidavit.operations import PARAMETER

MAX_LENGTH = 64  # of a tool's name, in what assistants take
HASH_LENGTH = 8
WORD = re.compile(r"[A-Za-z0-9]+")


def operation_names(operations: Sequence[tuple[str, str]]) -> list[str]:
    """A name for each (method, path), in their order; `GET /orders/{orderId}` → `get_orders_by_orderId`.

    What would be too long, or the same as another's, ends with a digest of method and path: no name depends on
    where its operation stands in the list.
    """
    plain = [plain_name(method, path) for method, path in operations]
    times = Counter(name.lower() for name in plain)
    return [
        name if times[name.lower()] == 1 and len(name) <= MAX_LENGTH else marked(name, f"{method} {path}")
        for name, (method, path) in zip(plain, operations, strict=True)
    ]


def name_words(path: str) -> list[str]:
    """The words that every path of the same plain name has, too."""
    return [word for word in WORD.findall(path) if word.lower() != "by"]


def plain_name(method: str, path: str) -> str:
    spoken = PARAMETER.sub(r" by \1 ", path)
    return "_".join(WORD.findall(f"{method.lower()} {spoken}"))


def marked(name: str, operation: str) -> str:
    digest = hashlib.sha256(operation.encode()).hexdigest()[:HASH_LENGTH]
    return f"{name[: MAX_LENGTH - HASH_LENGTH - 1]}_{digest}"
