"""Read the entries of a HAR file as exchanges, or the reason why an entry is skipped.

HAR 1.2, as browsers, proxies and test recorders write it. Only JSON bodies are read; any other body is left out.
"""

from __future__ import annotations

import os
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import NamedTuple
from urllib.parse import parse_qs, quote, urlsplit

from affidavit._json import ABSENT, Absent, Json, parse
from affidavit._paths.routes import PATH_SAFE
from affidavit._witness.bodies import BODILESS, is_json
from affidavit._witness.observations import EARLIEST, METHOD, SECONDS_A_DAY

from .scan import Progress, TooLarge, scan

SWITCHED = 101
UNTOLD_TYPES = frozenset({"", "x-unknown"})  # Chrome writes x-unknown for a missing type

_UNSOUND = re.compile("[\0\ud800-\udfff]")  # the hub refuses JSON with these


class Skip(Enum):
    """Why an entry is skipped, worded to follow a count: "3 malformed"."""

    NOT_HTTP = "not HTTP"
    WEBSOCKET = "WebSocket"
    NO_ANSWER = "without an answer"
    NO_TIME = "without a time between 2000 and tomorrow"
    TOO_LARGE = "too large"
    MALFORMED = "malformed"


class LeftOut(Enum):
    """Why a body is not read, worded to follow a count: "3 not valid JSON"."""

    NOT_JSON = "not JSON by their type"
    INVALID = "not valid JSON"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its response.

    path: raw, percent-encoded. at: Unix seconds. request, response: their JSON body, if any.
    """

    method: str
    path: str
    query: Mapping[str, list[str]]
    status: int
    at: float
    request: Json | Absent | LeftOut
    response: Json | Absent | LeftOut


def read_har(
    path: str | os.PathLike[str], *, now: float, progress: Progress | None = None, name: str | None = None
) -> Iterator[Exchange | Skip]:
    """Yield one item for each entry of the file, in order.

    now: Unix seconds. name: of the file in errors, by default its path. Raises HarError.
    """
    for entry in scan(path, progress, name=name):
        yield Skip.TOO_LARGE if isinstance(entry, TooLarge) else _read_exchange(entry, now)


def _read_exchange(entry: Json, now: float) -> Exchange | Skip:
    request, response = _read_member(entry, "request"), _read_member(entry, "response")
    method, status = _read_method(request), _read_status(response)
    address = _read_address(request)
    if isinstance(address, Skip):
        return address
    if status is None or method is None:
        return Skip.MALFORMED
    if status < 200:
        return Skip.WEBSOCKET if status == SWITCHED else Skip.NO_ANSWER
    seconds = _read_time(entry)
    if seconds is None or not EARLIEST <= seconds <= now + SECONDS_A_DAY:
        return Skip.NO_TIME
    return Exchange(
        method,
        address.path,
        address.query,
        status,
        seconds,
        request=_read_json_body(_read_member(request, "postData")),
        response=ABSENT
        if method == "HEAD" or status in BODILESS
        else _read_json_body(_read_member(response, "content")),
    )


class _Address(NamedTuple):
    path: str
    query: dict[str, list[str]]


def _read_address(request: Mapping[str, Json]) -> _Address | Skip:
    text = request.get("url")
    try:
        url = urlsplit(text if isinstance(text, str) else "")
        query = parse_qs(url.query, keep_blank_values=True)
    except ValueError:
        return Skip.MALFORMED
    if url.scheme in ("ws", "wss"):
        return Skip.WEBSOCKET
    if url.scheme not in ("http", "https"):
        return Skip.NOT_HTTP if url.scheme else Skip.MALFORMED
    if _UNSOUND.search("".join([url.path, *query])):
        return Skip.MALFORMED
    return _Address(quote(url.path or "/", safe=PATH_SAFE), query)


def _read_method(request: Mapping[str, Json]) -> str | None:
    method = request.get("method")
    return method.upper() if isinstance(method, str) and METHOD.fullmatch(method) else None


def _read_status(response: Mapping[str, Json]) -> int | None:
    """Return the status; 0 or less if there was no response (aborted, blocked, unreachable), None if it is invalid."""
    status = response.get("status")
    return status if type(status) is int and status < 600 else None


def _read_time(entry: Json) -> float | None:
    """Return Unix seconds. A time without a zone is UTC."""
    text = entry.get("startedDateTime") if isinstance(entry, dict) else None
    try:
        moment = datetime.fromisoformat(text if isinstance(text, str) else "")
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _read_json_body(part: Mapping[str, Json]) -> Json | Absent | LeftOut:
    """Return the JSON of `postData` or `content`. Its type says whether it is JSON; without a type, the first
    character does."""
    text, mime = part.get("text"), part.get("mimeType")
    media_type = mime.strip().lower() if isinstance(mime, str) else ""
    if not isinstance(text, str) or not text.strip():
        return ABSENT
    if media_type not in UNTOLD_TYPES and not is_json(media_type):
        return LeftOut.NOT_JSON
    try:
        raw = b64decode(text) if part.get("encoding") == "base64" else text.encode("utf-8", "surrogatepass")
        if media_type in UNTOLD_TYPES and raw.lstrip()[:1] not in (b"{", b"["):
            return LeftOut.NOT_JSON
        return parse(raw)
    except ValueError:  # InvalidJson, or the error of b64decode
        return LeftOut.INVALID


def _read_member(value: object, name: str) -> Mapping[str, Json]:
    member = value.get(name) if isinstance(value, dict) else None
    return member if isinstance(member, dict) else {}
