"""Read and parse the JSON body of a request, strictly and within bounds (contract §1)."""

from __future__ import annotations

import zlib

from django.http import HttpRequest

from affidavit import InvalidJson, Json, parse_json
from wire.errors import DomainError
from wire.http.problems import Problem

MAX_BODY_BYTES = 4 * 1024 * 1024
MAX_GZIP_MEMBERS = 100  # each costs time, however empty it is
BODY_TOO_SLOW = "affidavit.body_too_slow"
"""A member of the WSGI environment: set if the server gave up waiting for the body."""
BODY_BROKEN = "affidavit.body_broken"
"""A member of the WSGI environment: set if the server could not read the body."""


class BodyTooLarge(DomainError):
    code = "body-too-large"
    detail = f"Send smaller batches: a body may have {MAX_BODY_BYTES >> 20} MiB, also after decompression."


class BodyTooSlow(DomainError):
    code = "body-too-slow"
    detail = "Send the body faster: the hub waits at most a minute, and less for a small body. Nothing was stored."


class BrokenBody(DomainError):
    code = "invalid-request"
    detail = "The body is not as long, or its chunks are not as large, as announced. Send it again."


class BrokenGzip(DomainError):
    code = "invalid-encoding"
    detail = "The body is not valid gzip. Compress it again, or send it plain."


def read_body(request: HttpRequest) -> bytes:
    """Return the body, decompressed; at most MAX_BODY_BYTES before and after.

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
    raw = request.read(MAX_BODY_BYTES + 1)
    if len(raw) > MAX_BODY_BYTES:
        raise BodyTooLarge
    return raw


def decompress(raw: bytes) -> bytes:
    """Decompress one or more gzip members without ever holding more than the bound."""
    plain = bytearray()
    members = 0
    while raw:
        members += 1
        if members > MAX_GZIP_MEMBERS:
            raise BrokenGzip(f"The body has more than {MAX_GZIP_MEMBERS} gzip members. Compress it in one.")
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
    """Return the JSON of a body. Raises Problem `invalid-json`."""
    try:
        return parse_json(raw)
    except InvalidJson as error:
        raise Problem("invalid-json", f"{error} Nothing was stored.") from None
