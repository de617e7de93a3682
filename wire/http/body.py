"""From the bytes of a request to a JSON value, strictly and within bounds (contract 1)."""

from __future__ import annotations

import zlib
from typing import Protocol, cast

from django.http import HttpRequest

from affidavit import InvalidJson, Json, parse_json
from wire.errors import DomainError
from wire.http.problems import Problem

MAX_BODY_BYTES = 4 * 1024 * 1024
MAX_DISCARDED_BYTES = 64 * 1024 * 1024
READ_BYTES = 64 * 1024


class BodyTooLarge(DomainError):
    code = "body-too-large"
    detail = "Send smaller batches: a body may have 4 MiB, also after decompression."


class BrokenGzip(DomainError):
    code = "invalid-encoding"
    detail = "The body is not valid gzip. Compress it again, or send it plain."


class InputStream(Protocol):
    def read(self, size: int, /) -> bytes: ...


def read_body(request: HttpRequest) -> bytes:
    """Return the body as its sender meant it, decompressed; at most MAX_BODY_BYTES before and after.

    Raises Problem `unsupported-media-type`, BodyTooLarge or BrokenGzip.
    """
    check_media_type(request)
    encoding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"identity", "gzip"}:
        raise Problem("unsupported-media-type", "Send the body plain or with Content-Encoding: gzip.")
    raw = read_within_bounds(request)
    return decompress(raw) if encoding == "gzip" else raw


def check_media_type(request: HttpRequest) -> None:
    charset = (request.content_params or {}).get("charset", "utf-8").lower().strip('"')
    if request.content_type != "application/json" or charset not in {"utf-8", "utf8"}:
        raise Problem("unsupported-media-type", "Send JSON in UTF-8 with Content-Type: application/json.")


def read_within_bounds(request: HttpRequest) -> bytes:
    if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BODY_BYTES:
        raise BodyTooLarge
    raw = open_stream(request).read(MAX_BODY_BYTES + 1)
    if len(raw) > MAX_BODY_BYTES:
        raise BodyTooLarge
    return raw


def drain_body(request: HttpRequest) -> None:
    """Read what is left of a refused body, within bounds.

    A client that is still sending when the connection closes sees a broken pipe instead of the answer.
    """
    stream, left = open_stream(request), MAX_DISCARDED_BYTES
    while left > 0 and (size := len(stream.read(READ_BYTES))):
        left -= size


def open_stream(request: HttpRequest) -> InputStream:
    """Return the bare stream of a chunked body: without a Content-Length, Django reads nothing."""
    is_chunked = "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower()
    return cast(InputStream, request.META["wsgi.input"] if is_chunked else request)


def decompress(raw: bytes) -> bytes:
    """Decompress one or more gzip members without ever holding more than the bound."""
    plain = bytearray()
    while raw:
        member = zlib.decompressobj(wbits=31)
        try:
            plain += member.decompress(raw, MAX_BODY_BYTES + 1 - len(plain))
        except zlib.error:
            raise BrokenGzip from None
        if len(plain) > MAX_BODY_BYTES:
            raise BodyTooLarge
        if not member.eof:
            raise BrokenGzip
        raw = member.unused_data
    if not plain:
        raise BrokenGzip
    return bytes(plain)


def parse_body(raw: bytes) -> Json:
    """Raises Problem `invalid-json`."""
    try:
        return parse_json(raw)
    except InvalidJson as error:
        raise Problem("invalid-json", f"{error} Nothing was stored.") from None
