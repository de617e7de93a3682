"""Bodies of live traffic: JSON and forms are copied up to a limit while they are read or sent, and parsed later.

Of a multipart form only the names of its parts are kept, so that it may be of any size (contract §4).
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from enum import Enum
from io import BytesIO
from typing import NamedTuple, TypeAlias

from affidavit._json import Json, parse
from affidavit._shapes.form_fields import FormFields, InvalidForm, PartScanner, TooManyFields, find_boundary, parse_form
from affidavit._shapes.media_types import is_form, is_json

MAX_BODY = 256 * 1024
"""Bytes of the largest body that is read, unless the app says otherwise."""
BODILESS = frozenset({204, 205, 304})
_PARTIAL = 206
_COMPRESSED = frozenset({"gzip", "x-gzip", "deflate"})
_GZIP_MAGIC = b"\x1f\x8b"


class Unread(Enum):
    """The reason why a body is not read, worded to follow a count: "3 not valid JSON"."""

    NOT_JSON = "not JSON by their type"
    INVALID = "not valid JSON"
    INVALID_FORM = "not a valid form"
    TOO_LARGE = "too large"
    ENCODED = "in an encoding other than gzip and deflate"
    INCOMPLETE = "not seen whole"
    NO_ROOM = "no room to keep them"
    UNREDACTED = "refused by a redactor that raised an error"


class RawBody(NamedTuple):
    """A body as sent.

    encoding: its `Content-Encoding` in lower case.
    form_type: the `Content-Type` of a form.
    """

    data: bytes
    encoding: str
    form_type: str = ""


CopiedBody: TypeAlias = "bytes | FormFields | Unread | None"
"""A copied body or the fields of a form, or why there are none; None without a body."""


class BodyCopy:
    """A copy of a body, empty once it is over `limit` bytes.

    is_whole: whether the body has ended; the caller sets it.
    """

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
        """Return the number of bytes that have passed so far."""
        return self._size

    def finish(self) -> CopiedBody:
        """Return the whole body, or why there is none."""
        if self._size > self._limit:
            return Unread.TOO_LARGE
        return b"".join(self._chunks) if self.is_whole else Unread.INCOMPLETE


class FormCopy(BodyCopy):
    """The names of the parts of a multipart form, found while it passes; their content is not kept."""

    __slots__ = ("_boundary", "_scanner")

    def __init__(self, boundary: bytes) -> None:
        super().__init__(0)
        self._boundary = boundary
        self._scanner = PartScanner(boundary)

    def add(self, chunk: bytes) -> None:
        """Scan the next piece."""
        self._size += len(chunk)
        self._scanner.add(chunk)

    def clear(self) -> None:
        """Start over: the body is read from its beginning again."""
        super().clear()
        self._scanner = PartScanner(self._boundary)

    def finish(self) -> CopiedBody:
        """Return the fields, or why there are none."""
        if not self._size:
            return b"" if self.is_whole else Unread.INCOMPLETE
        if not (self.is_whole or self._scanner.has_ended):
            return Unread.INCOMPLETE
        return finish_form(self._scanner.finish)


class BodyMeter(BodyCopy):
    """The size of a body that is not read."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(0)

    def finish(self) -> CopiedBody:
        """Return NOT_JSON, or no bytes for an empty body."""
        return Unread.NOT_JSON if self._size else b""


def is_readable(content_type: str) -> bool:
    """Return whether a request body of this type is read."""
    return is_json(content_type) or is_form(content_type)


def choose_type(content_type: str | None, content_length: str | None) -> str | None:
    """Return the type of a body; None if there is no body."""
    return None if content_length == "0" else content_type


def open_copy(content_type: str, limit: int) -> BodyCopy:
    """Return the copy for a request body of this type.

    limit: the limit in bytes.
    """
    if boundary := find_boundary(content_type):
        return FormCopy(boundary)
    return BodyCopy(limit) if is_readable(content_type) else BodyMeter()


def select_body(
    body: CopiedBody, content_type: str | None, encoding: str | None, limit: int, *, forms: bool = False
) -> RawBody | FormFields | Unread | None:
    """Return the body if it should be read, else why not; None without a body.

    This is cheap, because the body is not parsed yet.

    forms: whether forms are read, too.
    """
    if body is None or body == b"":
        return None
    if not isinstance(body, bytes):
        return body
    media_type = content_type or ""
    has_form = forms and is_form(media_type)
    if not (has_form or is_json(media_type)):
        return Unread.NOT_JSON
    if len(body) > limit:
        return Unread.TOO_LARGE
    coding = (encoding or "").strip().lower()
    if coding not in _COMPRESSED and coding not in ("", "identity"):
        return Unread.ENCODED
    return RawBody(body, coding, media_type if has_form else "")


def read_body(body: RawBody, limit: int) -> Json | FormFields | Unread:
    """Return the JSON or the form of a body of at most `limit` bytes when decompressed, or why there is none."""
    data = _decompress(body, limit)
    if isinstance(data, Unread):
        return data
    if body.form_type:
        return read_form(data, body.form_type)
    try:
        return parse(data)
    except ValueError:  # InvalidJson, or a number with too many digits for Python
        return Unread.INVALID


def is_piece(status: int, body: Json) -> bool:
    """Return whether the JSON of a response is only a piece of it, such as the digits of a number.

    A 206 with an array or an object is read: some APIs answer so with one page of a list.
    """
    return status == _PARTIAL and not isinstance(body, dict | list)


def read_form(data: bytes, content_type: str) -> FormFields | Unread:
    """Return the fields of a form, or why there are none.

    content_type: a type for which `is_form` is true.
    """
    boundary = find_boundary(content_type)
    if boundary:
        scanner = PartScanner(boundary)
        scanner.add(data)
        return finish_form(scanner.finish)
    return finish_form(lambda: parse_form(data))


def finish_form(build: Callable[[], FormFields]) -> FormFields | Unread:
    """Return the fields that `build` returns, or why there are none."""
    try:
        return build()
    except TooManyFields:
        return Unread.TOO_LARGE
    except InvalidForm:
        return Unread.INVALID_FORM


def _decompress(body: RawBody, limit: int) -> bytes | Unread:
    """Return the bytes of a body, one more than `limit` at most. Its first bytes say which format it has."""
    if body.encoding not in _COMPRESSED:
        return body.data
    try:
        data = (_inflate_gzip if body.data.startswith(_GZIP_MAGIC) else _inflate_zlib)(body.data, limit + 1)
    except (EOFError, OSError, zlib.error):
        return Unread.INVALID
    return Unread.TOO_LARGE if len(data) > limit else data


def _inflate_gzip(data: bytes, size: int) -> bytes:
    """Return at most `size` bytes of all members: a server that flushes may write several one after the other."""
    with gzip.GzipFile(fileobj=BytesIO(data)) as file:
        return file.read(size)


def _inflate_zlib(data: bytes, size: int) -> bytes:
    inflater = zlib.decompressobj()
    inflated = inflater.decompress(data, size)
    if len(inflated) < size and not inflater.eof:
        raise EOFError
    return inflated
