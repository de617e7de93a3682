"""JSON bodies of live traffic: copied up to a limit while they are read or sent, and parsed later (contract 4)."""

from __future__ import annotations

import re
import zlib
from enum import Enum
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from affidavit._json import Json, parse

_JSON_TYPE = re.compile(r"(?:application|text)/(?:json|[^;\s]+\+json)\s*(?:;|$)", re.IGNORECASE)
BODILESS = frozenset({204, 205, 304})
_COMPRESSED = frozenset({"gzip", "x-gzip", "deflate"})
_GZIP_OR_ZLIB = 47  # zlib's "window bits" for: detect it by the header


class Unread(Enum):
    """Why a body is not read, worded to follow a count: "3 not valid JSON"."""

    NOT_JSON = "not JSON by their type"
    INVALID = "not valid JSON"
    TOO_LARGE = "too large"
    ENCODED = "in an encoding other than gzip and deflate"
    INCOMPLETE = "not seen whole"
    NO_ROOM = "no room to keep them"


class RawBody(NamedTuple):
    """A body as sent. encoding: its `Content-Encoding` in lower case."""

    data: bytes
    encoding: str


CopiedBody: TypeAlias = "bytes | Unread | None"
"""A copied body, or why it could not be copied whole; None without a body."""


class BodyCopy:
    """A copy of a body, empty once it is over `limit` bytes. is_whole: set it when the body has ended."""

    __slots__ = ("_chunks", "_limit", "_size", "is_whole")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._chunks: list[bytes] = []
        self.is_whole = False

    def add(self, chunk: bytes) -> None:
        """Add the next piece."""
        self._size += len(chunk)
        if self._size <= self._limit:
            self._chunks.append(chunk)
        else:
            self._chunks.clear()

    def clear(self) -> None:
        """Start over: the body is read from its beginning again."""
        self._size, self.is_whole = 0, False
        self._chunks.clear()

    @property
    def size(self) -> int:
        """Bytes that have passed so far."""
        return self._size

    def finish(self) -> CopiedBody:
        """Return the whole body, or why there is none."""
        if self._size > self._limit:
            return Unread.TOO_LARGE
        return b"".join(self._chunks) if self.is_whole else Unread.INCOMPLETE


@lru_cache(maxsize=256)
def is_json(content_type: str) -> bool:
    """Return whether a `Content-Type` is JSON: `application/json`, `application/problem+json; charset=utf-8`."""
    return bool(_JSON_TYPE.match(content_type.strip()))


def select_body(
    body: CopiedBody, content_type: str | None, encoding: str | None, limit: int
) -> RawBody | Unread | None:
    """Return the body if it should be read, else why not; None without a body. Cheap: the body is not parsed yet."""
    if body is None or body == b"":
        return None
    if isinstance(body, Unread):
        return body
    if not is_json(content_type or ""):
        return Unread.NOT_JSON
    if len(body) > limit:
        return Unread.TOO_LARGE
    coding = (encoding or "").strip().lower()
    return RawBody(body, coding) if coding in _COMPRESSED or coding in ("", "identity") else Unread.ENCODED


def read_json(body: RawBody, limit: int) -> Json | Unread:
    """Return the JSON of a body of at most `limit` bytes when decompressed, or why there is none."""
    data = body.data
    if body.encoding in _COMPRESSED:
        try:
            inflater = zlib.decompressobj(_GZIP_OR_ZLIB)
            data = inflater.decompress(data, limit + 1)
        except zlib.error:
            return Unread.INVALID
        if len(data) > limit:
            return Unread.TOO_LARGE
        if not inflater.eof:
            return Unread.INVALID
    try:
        return parse(data)
    except ValueError:  # InvalidJson, or a number with too many digits for Python
        return Unread.INVALID
