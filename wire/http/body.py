"""From the bytes of a request to a JSON value, strictly and within bounds (contract 1)."""

import zlib
from typing import Any

from django.http import HttpRequest

from affidavit import InvalidJson, Json, parse_json
from wire.http.problems import Problem

MAX_BYTES = 4 * 1024 * 1024
MAX_DISCARDED = 64 * 1024 * 1024
CHUNK = 64 * 1024


def read(request: HttpRequest) -> bytes:
    """The body as its sender meant it, decompressed; at most MAX_BYTES before and after.

    Raises Problem 415, 413 or 400 `invalid-encoding`.
    """
    check_media_type(request)
    encoding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in {"identity", "gzip"}:
        raise Problem("unsupported-media-type", "Send the body plain or with Content-Encoding: gzip.")
    raw = bounded(request)
    return gunzip(raw) if encoding == "gzip" else raw


def check_media_type(request: HttpRequest) -> None:
    charset = (request.content_params or {}).get("charset", "utf-8").lower().strip('"')
    if request.content_type != "application/json" or charset not in {"utf-8", "utf8"}:
        raise Problem("unsupported-media-type", "Send JSON in UTF-8 with Content-Type: application/json.")


def bounded(request: HttpRequest) -> bytes:
    if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BYTES:
        raise too_large()
    raw = stream_of(request).read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise too_large()
    return raw


def discard(request: HttpRequest) -> None:
    """Read what is left of a refused body, within bounds.

    A client that is still sending when the connection closes sees a broken pipe in place of the answer.
    """
    stream, left = stream_of(request), MAX_DISCARDED
    while left > 0 and (read := len(stream.read(CHUNK))):
        left -= read


def stream_of(request: HttpRequest) -> Any:
    """Django reads nothing without a Content-Length."""
    chunked = "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower()
    return request.META["wsgi.input"] if chunked else request


def gunzip(raw: bytes) -> bytes:
    """Decompress one or more gzip members without ever holding more than the bound."""
    plain = bytearray()
    while raw:
        member = zlib.decompressobj(wbits=31)
        try:
            plain += member.decompress(raw, MAX_BYTES + 1 - len(plain))
        except zlib.error:
            raise broken_gzip() from None
        if len(plain) > MAX_BYTES:
            raise too_large()
        if not member.eof:
            raise broken_gzip()
        raw = member.unused_data
    if not plain:
        raise broken_gzip()
    return bytes(plain)


def parsed(raw: bytes) -> Json:
    """Raises Problem 400 `invalid-json`."""
    try:
        return parse_json(raw)
    except InvalidJson as error:
        raise Problem("invalid-json", f"{error} Nothing was stored.") from None


def too_large() -> Problem:
    return Problem("body-too-large", "Send smaller batches: a body may have 4 MiB, also after decompression.")


def broken_gzip() -> Problem:
    return Problem("invalid-encoding", "The body is not valid gzip. Compress it again, or send it plain.")
