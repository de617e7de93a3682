"""What one exchange tells a learner of path templates: names, shapes, and hashes in place of values (contract 4).

The key is random and of this process; neither it nor a hash is ever sent.
"""

from __future__ import annotations

import secrets
from collections.abc import Set
from dataclasses import dataclass, field
from hashlib import blake2b
from sys import intern

from affidavit._json import Absent, Json
from affidavit._shapes.data_like import form, is_data

from .words import Reading, reading

MAX_TEXT = 80  # characters; longer ones are no names that stand in a path
MAX_LEVEL = 6  # of the properties that make a shape
MAX_LISTED = 300  # properties of one shape
HASH_BYTES = 8
ROOTS = frozenset("><")


class Hashes:
    """Keyed hashes of texts, so that equal ones can be told without keeping any."""

    def __init__(self, key: bytes | None = None) -> None:
        """key: up to 64 bytes; random if left out."""
        self._key = key or secrets.token_bytes(32)

    def of(self, text: str) -> int:
        """64 bits."""
        digest = blake2b(text.encode("utf-8", "surrogatepass"), key=self._key, digest_size=HASH_BYTES)
        return int.from_bytes(digest.digest(), "big")


@dataclass
class Sightings:
    """names: of properties that are no data. shape: their places. scalars: how their names read, by hash."""

    names: set[str] = field(default_factory=set)
    shape: set[str] = field(default_factory=set)
    scalars: dict[int, Reading] = field(default_factory=dict)


def sighted(hashes: Hashes, *bodies: Json | Absent) -> Sightings:
    """What the bodies of one exchange, request first, tell together."""
    sightings = Sightings()
    for mark, body in zip("><", bodies, strict=False):
        if not isinstance(body, Absent):
            _look(sightings, hashes, body, "", mark, 1)
    return sightings


def bounded(shape: Set[str]) -> frozenset[str]:
    """The same part of a shape that is too large, in whatever order it came about."""
    return frozenset(shape if len(shape) <= MAX_LISTED else sorted(shape)[:MAX_LISTED])


def _look(into: Sightings, hashes: Hashes, value: Json, name: str, place: str, level: int) -> None:
    """name: of the property that holds the value. place: of the value, as `>order.items[]`."""
    if isinstance(value, dict):
        for key, member in value.items():
            known = not is_data(key)
            there = intern(f"{place}.{key if known else '*'}")
            if known:
                into.names.add(key)
            if level <= MAX_LEVEL:
                into.shape.add(there)
            _look(into, hashes, member, key if known else name, there, level + 1)
    elif isinstance(value, list):
        if place in ROOTS:
            into.shape.add(place)
        for item in value:
            _look(into, hashes, item, name, f"{place}[]", level)
    elif isinstance(value, str) and 0 < len(value) <= MAX_TEXT:
        _see(into, hashes.of(value), value, name)


def _see(into: Sightings, hashed: int, text: str, name: str) -> None:
    known = into.scalars.get(hashed)
    if known is not None:
        into.scalars[hashed] = known | reading(name)
    elif form(text) is None:  # what is data by its form needs no other sign
        into.scalars[hashed] = reading(name)
