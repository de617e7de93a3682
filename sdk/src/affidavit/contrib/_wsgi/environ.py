"""Facts and body of a request from its WSGI environ (PEP 3333)."""

from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any

from affidavit._protection.deliveries import StoredResponse
from affidavit._protection.problem_responses import answer_body_incomplete, answer_body_too_large

Environ = dict[str, Any]
WsgiApp = Callable[[Environ, Any], Iterable[bytes]]

_CHUNK = 64 * 1024


def decode(text: str) -> str:
    """Decode the Latin-1 text of PEP 3333 as UTF-8. Invalid bytes become surrogates, which equal no signed path."""
    return text.encode("latin-1").decode("utf-8", "surrogateescape")


def read_prefix(environ: Environ) -> str:
    """Return the mount prefix of the app."""
    return decode(environ.get("SCRIPT_NAME", ""))


def read_body_type(environ: Environ) -> str | None:
    """Return the `Content-Type` of a request, None without a body.

    A request has a body if it has a length above 0 or is sent in chunks.
    """
    has_body = environ.get("CONTENT_LENGTH") not in (None, "", "0") or "HTTP_TRANSFER_ENCODING" in environ
    return environ.get("CONTENT_TYPE") or None if has_body else None


def read_body(environ: Environ, limit: int) -> bytes | StoredResponse:
    """Return the whole body, which the app can still read; or the refusal of a body that is too large or incomplete."""
    length = environ.get("CONTENT_LENGTH") or ""
    if length.isdecimal():
        body_length = int(length) if len(length) < 16 else limit + 1
    else:
        body_length = limit + 1 if environ.get("wsgi.input_terminated") else 0
    if length and body_length > limit:
        return answer_body_too_large(limit)
    try:
        body = _read_at_most(environ["wsgi.input"], body_length)
    except OSError:  # the client is gone
        return answer_body_incomplete()
    if len(body) > limit:
        return answer_body_too_large(limit)
    if length and len(body) < body_length:
        return answer_body_incomplete()
    environ["wsgi.input"] = BytesIO(body)
    environ["CONTENT_LENGTH"] = str(len(body))
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    return body


def _read_at_most(source: Any, size: int) -> bytes:
    """Return at most `size` bytes; a server may return fewer at a time than requested."""
    parts: list[bytes] = []
    while size > 0 and (part := source.read(min(size, _CHUNK))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
