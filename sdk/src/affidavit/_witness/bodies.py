"""JSON bodies of live traffic: copied as they pass, up to a bound, and read later (contract 4)."""

from __future__ import annotations

import re
import zlib
from enum import Enum
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from affidavit._json import Json, parse

JSON_TYPE = re.compile(r"(?:application|text)/(?:json|[^;\s]+\+json)\s*(?:;|$)", re.IGNORECASE)
BODILESS = frozenset({204, 205, 304})
COMPRESSED = frozenset({"gzip", "x-gzip", "deflate"})
GZIP_OR_ZLIB = 47  # zlib's "window bits" for: tell by the header


class Unread(Enum):
    """Why a body is not looked at, in words that follow a count."""

    NOT_JSON = "not JSON by their type"
    INVALID = "not valid JSON"
    TOO_LARGE = "too large"
    ENCODED = "in an encoding other than gzip and deflate"
    INCOMPLETE = "not seen whole"
    NO_ROOM = "no room to keep them"


class Raw(NamedTuple):
    """A body as it went over the wire. encoding: its `Content-Encoding`, in lower case."""

    data: bytes
    encoding: str


Copied: TypeAlias = "bytes | Unread | None"
"""A body as it was copied: whole, or why not; None where there was none."""


class Copy:
    """A copy of a body while it passes, which keeps nothing once it is over `limit` bytes."""

    __slots__ = ("_chunks", "_limit", "_size", "is_whole")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._chunks: list[bytes] = []
        self.is_whole = False

    def add(self, chunk: bytes) -> None:
        """The next piece."""
        self._size += len(chunk)
        if self._size <= self._limit:
            self._chunks.append(chunk)
        else:
            self._chunks.clear()

    def clear(self) -> None:
        """It is read from the beginning again."""
        self._size, self.is_whole = 0, False
        self._chunks.clear()

    @property
    def size(self) -> int:
        """Bytes that have passed."""
        return self._size

    def taken(self) -> Copied:
        """What there is in the end. Set `is_whole` before, when nothing is missing."""
        if self._size > self._limit:
            return Unread.TOO_LARGE
        return b"".join(self._chunks) if self.is_whole else Unread.INCOMPLETE


@lru_cache(maxsize=256)
def is_json(content_type: str) -> bool:
    """Whether a `Content-Type` says JSON: `application/json`, `application/problem+json; charset=utf-8`."""
    return bool(JSON_TYPE.match(content_type.strip()))


def raw(body: Copied, content_type: str | None, encoding: str | None, limit: int) -> Raw | Unread | None:
    """What is worth reading of a body; None where there is none. Cheap: nothing is read yet."""
    if body is None or body == b"":
        return None
    if isinstance(body, Unread):
        return body
    if not is_json(content_type or ""):
        return Unread.NOT_JSON
    if len(body) > limit:
        return Unread.TOO_LARGE
    told = (encoding or "").strip().lower()
    return Raw(body, told) if told in COMPRESSED or told in ("", "identity") else Unread.ENCODED


def read(body: Raw, limit: int) -> Json | Unread:
    """The JSON of a body, of at most `limit` bytes when decompressed, or why there is none."""
    data = body.data
    if body.encoding in COMPRESSED:
        try:
            inflater = zlib.decompressobj(GZIP_OR_ZLIB)
            data = inflater.decompress(data, limit + 1)
        except zlib.error:
            return Unread.INVALID
        if len(data) > limit:
            return Unread.TOO_LARGE
        if not inflater.eof:
            return Unread.INVALID
    try:
        return parse(data)
    except ValueError:  # InvalidJson is one, and so is a number of too many digits
        return Unread.INVALID
