"""Read each entry of a HAR file as an exchange, or as the reason why it is skipped.

The format is HAR 1.2, as browsers, proxies and test recorders write it. Only JSON and the forms of requests are read;
any other body is left out.
"""

from __future__ import annotations

import os
from base64 import b64decode
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from typing import NamedTuple
from urllib.parse import parse_qs, quote, urlsplit

from affidavit._hub.report_times import may_be_reported
from affidavit._json import ABSENT, Absent, Json, parse
from affidavit._paths.routes import PATH_SAFE
from affidavit._shapes.form_fields import FormField, FormFields, InvalidForm, build_form
from affidavit._shapes.media_types import is_form, is_json, is_url_encoded
from affidavit._witness.bodies import BODILESS, Unread, finish_form, is_piece, read_form
from affidavit._witness.observations import (
    METHOD,
    NO_MEDIA_TYPES,
    UNSENDABLE,
    MediaTypes,
    find_media_types,
)

from .attached_bodies import AttachedBodies, TooLarge
from .file import Progress, scan
from .hosts import list_host_names

SWITCHED = 101
MISSING_TYPES = frozenset({"", "x-unknown"})  # Chrome writes x-unknown for a missing type


class Skip(Enum):
    """The reason why an entry is skipped, worded to follow a count: "3 malformed"."""

    NOT_HTTP = "not HTTP"
    WEBSOCKET = "WebSocket"
    CONNECT = "CONNECT to a proxy"
    OTHER_HOST = "of other hosts"
    NO_ANSWER = "without an answer"
    NO_TIME = "without a time between 2000 and tomorrow"
    TOO_LARGE = "too large"
    MALFORMED = "malformed"


class LeftOut(Enum):
    """The reason why a body is not read, worded to follow a count: "3 not valid JSON"."""

    NOT_JSON = "not JSON by their type"
    INVALID = "not valid JSON"
    INVALID_FORM = "not a valid form"
    TOO_LARGE = "too large"
    NOT_IN_FILE = "not in the file"
    INCOMPLETE = "not whole"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its response.

    path: the raw path, percent-encoded.
    at: Unix seconds.
    request, response: their JSON body or the fields of a form, if any.
    host_names: the names of the host in the address, see `list_host_names`.
    host: the host in the address, with its port if that is not the usual one.
    """

    method: str
    path: str
    query: Mapping[str, list[str]]
    status: int
    at: float
    request: Json | FormFields | Absent | LeftOut
    response: Json | Absent | LeftOut
    media_types: MediaTypes = NO_MEDIA_TYPES
    host_names: tuple[str, ...] = field(default=("",), compare=False)

    @property
    def host(self) -> str:
        return self.host_names[0]


def read_har(
    path: str | os.PathLike[str],
    *,
    now: float,
    progress: Progress | None = None,
    name: str | None = None,
    hosts: Collection[str] = (),
) -> Iterator[Exchange | Skip]:
    """Yield one item for each entry of the file, in order.

    now: Unix seconds.
    name: the name of the file in errors, by default its path.
    hosts: the hosts to read, in lower case, with or without their port; all of them if empty.

    Raises HarError.
    """
    with closing(AttachedBodies(path)) as bodies:
        for entry in scan(path, progress, name=name):
            item = Skip.TOO_LARGE if isinstance(entry, TooLarge) else _read_exchange(entry, now, bodies)
            is_of_other_host = (
                hosts and isinstance(item, Exchange) and not any(host_name in hosts for host_name in item.host_names)
            )
            yield Skip.OTHER_HOST if is_of_other_host else item


def _read_exchange(entry: Json, now: float, bodies: AttachedBodies) -> Exchange | Skip:
    request, response = _read_member(entry, "request"), _read_member(entry, "response")
    if request.get("method") == "CONNECT":
        return Skip.CONNECT
    method, status = _read_method(request), _read_status(response)
    address = _read_address(request)
    if isinstance(address, Skip):
        return address
    if status is None or method is None:
        return Skip.MALFORMED
    if status < 200:
        return Skip.WEBSOCKET if status == SWITCHED else Skip.NO_ANSWER
    seconds = _read_time(entry)
    if seconds is None or not may_be_reported(seconds, now):
        return Skip.NO_TIME
    has_response = method != "HEAD" and status not in BODILESS
    content, post_data = _read_member(response, "content"), _read_member(request, "postData")
    request_body = _read_request_body(post_data, request.get("bodySize"), bodies)
    response_body = _read_json_body(content, content.get("size"), bodies) if has_response else ABSENT
    if not isinstance(response_body, Absent | LeftOut) and is_piece(status, response_body):
        response_body = LeftOut.INCOMPLETE
    return Exchange(
        method,
        address.path,
        address.query,
        status,
        seconds,
        request=request_body,
        response=response_body,
        media_types=find_media_types(
            status,
            None if isinstance(request_body, Absent) else _read_sent_type(post_data),
            None if isinstance(response_body, Absent) else _read_sent_type(content),
        ),
        host_names=address.host_names,
    )


class _Address(NamedTuple):
    host_names: tuple[str, ...]
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
    if UNSENDABLE.search("".join([url.path, *query])):
        return Skip.MALFORMED
    return _Address(list_host_names(url.scheme, url.netloc), quote(url.path or "/", safe=PATH_SAFE), query)


def _read_method(request: Mapping[str, Json]) -> str | None:
    method = request.get("method")
    return method.upper() if isinstance(method, str) and METHOD.fullmatch(method) else None


def _read_status(response: Mapping[str, Json]) -> int | None:
    """Return the status; 0 or less if there was no response (aborted, blocked, unreachable), None if it is invalid."""
    status = response.get("status", 0)
    return status if type(status) is int and status < 600 else None


def _read_time(entry: Json) -> float | None:
    """Return Unix seconds; None if the entry has no readable time. A time without a zone is UTC."""
    text = entry.get("startedDateTime") if isinstance(entry, dict) else None
    try:
        moment = datetime.fromisoformat(text if isinstance(text, str) else "")
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _read_request_body(
    part: Mapping[str, Json], size: object, bodies: AttachedBodies
) -> Json | FormFields | Absent | LeftOut:
    """Return the JSON or the form of `postData`. A form may be written as its fields, as its text, or both."""
    content_type = part.get("mimeType")
    if not (isinstance(content_type, str) and is_form(content_type)):
        return _read_json_body(part, size, bodies)
    fields = part.get("params")
    if isinstance(fields, list) and fields:
        return _explain_form(finish_form(lambda: build_form(_list_fields(fields, content_type))))
    raw = _read_raw_body(part, bodies)
    if isinstance(raw, bytes):
        return _explain_form(read_form(raw, content_type))
    if raw is None:
        return LeftOut.NOT_IN_FILE if isinstance(size, int) and size > 0 else ABSENT
    return LeftOut.INVALID_FORM if raw is LeftOut.INVALID else raw


def _list_fields(fields: list[Json], content_type: str) -> Iterator[FormField]:
    """Yield the fields of `params`. Raises InvalidForm if `params` are not fields.

    At least one field of a url-encoded form must have a value, as in `parse_form`. Otherwise the body was probably a
    text that is no form: the program that wrote the file took all of it for the name of one field.
    """
    is_filled = any(isinstance(param, dict) and param.get("value") for param in fields)
    if not is_filled and is_url_encoded(content_type):
        raise InvalidForm
    for param in fields:
        name = param.get("name") if isinstance(param, dict) else None
        if not isinstance(name, str):
            raise InvalidForm
        yield FormField(name, isinstance(param, dict) and isinstance(param.get("fileName"), str))


def _explain_form(form: FormFields | Unread) -> FormFields | LeftOut:
    if isinstance(form, Unread):
        return LeftOut.TOO_LARGE if form is Unread.TOO_LARGE else LeftOut.INVALID_FORM
    return form


def _read_sent_type(part: Mapping[str, Json]) -> str | None:
    media_type = _read_media_type(part)
    return None if media_type in MISSING_TYPES else media_type


def _read_json_body(part: Mapping[str, Json], size: object, bodies: AttachedBodies) -> Json | Absent | LeftOut:
    """Return the JSON of `postData` or `content`. The media type, or else the first character, says whether it is JSON.

    size: the number of bytes that were sent.

    If bytes were sent, but the part has no text, the file left the body out.
    """
    media_type = _read_media_type(part)
    raw = _read_raw_body(part, bodies)
    if not isinstance(raw, bytes):
        was_sent = raw is not None or (isinstance(size, int) and size > 0)
        return _explain_missing(media_type, raw or LeftOut.NOT_IN_FILE) if was_sent else ABSENT
    if not raw.strip():
        return ABSENT
    if media_type not in MISSING_TYPES and not is_json(media_type):
        return LeftOut.NOT_JSON
    if media_type in MISSING_TYPES and raw.lstrip()[:1] not in (b"{", b"["):
        return LeftOut.NOT_JSON
    try:
        return parse(raw)
    except ValueError:  # InvalidJson is a ValueError, too
        return LeftOut.INVALID


def _read_raw_body(part: Mapping[str, Json], bodies: AttachedBodies) -> bytes | LeftOut | None:
    """Return the bytes of a body; None if the entry has none, else why they cannot be read."""
    text = part.get("text")
    if not (isinstance(text, str) and text.strip()):
        if "_file" not in part:
            return None
        attached_body = bodies.read(part["_file"])
        if isinstance(attached_body, TooLarge):
            return LeftOut.TOO_LARGE
        return LeftOut.NOT_IN_FILE if attached_body is None else attached_body
    try:
        return b64decode(text) if part.get("encoding") == "base64" else text.encode("utf-8", "surrogatepass")
    except ValueError:
        return LeftOut.INVALID


def _explain_missing(media_type: str, reason: LeftOut) -> LeftOut:
    """Return the reason why a body has no bytes, or NOT_JSON if it would not be read anyway."""
    return reason if media_type in MISSING_TYPES or is_json(media_type) else LeftOut.NOT_JSON


def _read_media_type(part: Mapping[str, Json]) -> str:
    mime = part.get("mimeType")
    return mime.strip().lower() if isinstance(mime, str) else ""


def _read_member(value: object, name: str) -> Mapping[str, Json]:
    member = value.get(name) if isinstance(value, dict) else None
    return member if isinstance(member, dict) else {}
