"""One way to call an HTTP API, over the wire or inside this process."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit


@dataclass(frozen=True)
class Answer:
    """A status and the JSON of the body, None where there is none."""

    status: int
    json: Any


Call = Callable[[str, str, Any, Mapping[str, str]], Answer]
"""call(method, target, body, headers): body is a JSON value or None; target has the query."""


def over_http(base_url: str, timeout: float = 10.0) -> Call:
    """For one thread: it keeps a connection open where the server does. Raises OSError and HTTPException."""
    address = urlsplit(base_url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=timeout)

    def sent(method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        connection.request(method, address.path.rstrip("/") + target, body, dict(headers))
        with connection.getresponse() as response:
            return Answer(response.status, json_or_none(response.read()))

    def call(method: str, target: str, body: Any, headers: Mapping[str, str]) -> Answer:
        raw, described = encoded(body, headers)
        try:
            with suppress(ConnectionError):  # a kept connection may have been closed meanwhile
                return sent(method, target, raw, described)
            connection.close()
            return sent(method, target, raw, described)
        except (OSError, http.client.HTTPException):
            connection.close()
            raise

    return call


def in_process(app: Any) -> Call:
    """Calls a WSGI app directly (PEP 3333)."""

    def call(method: str, target: str, body: Any, headers: Mapping[str, str]) -> Answer:
        raw, described = encoded(body, headers)
        begun: list[str] = []
        environ = environ_of(method, target, raw or b"", described)
        chunks = app(environ, lambda status, headers, exc_info=None: begun.append(status))
        return Answer(int(begun[-1][:3]), json_or_none(b"".join(chunks)))

    return call


def environ_of(method: str, target: str, body: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    path, _, query = target.partition("?")
    named = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}
    return {
        **named,
        "CONTENT_TYPE": named.get("HTTP_CONTENT_TYPE", ""),
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": query,
        "CONTENT_LENGTH": str(len(body)),
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": BytesIO(body),
        "wsgi.multithread": False,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }


def encoded(body: Any, headers: Mapping[str, str]) -> tuple[bytes | None, Mapping[str, str]]:
    if body is None:
        return None, headers
    return json.dumps(body).encode(), {**headers, "Content-Type": "application/json"}


def json_or_none(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return None
