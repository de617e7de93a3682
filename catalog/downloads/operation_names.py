"""A short name for every operation (pure): `operationId` in OpenAPI, the name of a tool."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count

from affidavit.operations import PARAMETER
from catalog.evidence.outlines import Outline

MAX_TOOL_NAME_LENGTH = 64  # the limit of the APIs of assistants
DIGEST_LENGTH = 8
WORD = re.compile(r"[A-Za-z0-9]+")
DIGEST = re.compile(rf"_[0-9a-f]{{{DIGEST_LENGTH}}}$", re.IGNORECASE)


def name_operations(operations: Sequence[tuple[str, str]]) -> list[str]:
    """Return a name for each (method, path), in their order; `GET /orders/{orderId}` → `get_orders_by_orderId`.

    A name ends with a digest of method and path if it would be too long, equal another one, or look like a name with a
    digest. So no name depends on the position of its operation in the list. If two names with digests are equal, as
    those of paths that somebody chose for it, both get a digest of the operation and a number.
    """
    names = plain_names = [build_plain_name(method, path) for method, path in operations]
    are_final = [is_only and is_plain(name) for name, is_only in zip(names, _find_single(names), strict=True)]
    for attempt in count():
        if all(are_final):
            break
        ending = f" {attempt}" if attempt else ""
        names = [
            name if is_final else add_digest(plain_name, f"{method} {path}{ending}")
            for name, is_final, plain_name, (method, path) in zip(
                names, are_final, plain_names, operations, strict=True
            )
        ]
        are_final = _find_single(names)
    return names


def _find_single(names: Sequence[str]) -> list[bool]:
    """Return for each name whether no other equals it, whatever the case of its letters."""
    uses = Counter(name.lower() for name in names)
    return [uses[name.lower()] == 1 for name in names]


def name_outlines(outlines: Iterable[Outline]) -> list[str]:
    return name_operations([(outline["method"], outline["path"]) for outline in outlines])


def split_name_words(path: str) -> list[str]:
    """Return the words that every path with the same plain name contains."""
    return [word for word in WORD.findall(path) if word.lower() != "by"]


def build_plain_name(method: str, path: str) -> str:
    words = PARAMETER.sub(r" by \1 ", path)
    return "_".join(WORD.findall(f"{method.lower()} {words}"))


def is_plain(name: str) -> bool:
    """Return whether a name can stand without a digest: it is neither empty nor too long, nor ends like a digest."""
    return 0 < len(name) <= MAX_TOOL_NAME_LENGTH and not DIGEST.search(name)


def add_digest(name: str, operation: str) -> str:
    digest = hashlib.sha256(operation.encode()).hexdigest()[:DIGEST_LENGTH]
    return f"{name[: MAX_TOOL_NAME_LENGTH - DIGEST_LENGTH - 1]}_{digest}"
