"""Call an HTTP API over the network or inside this process, through the same kind of function."""

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
    """A status and the JSON of the body; None if the body is not JSON."""

    status: int
    json: Any


Call = Callable[[str, str, Any, Mapping[str, str]], Answer]
"""call(method, target, body, headers): body is a JSON value or None; target includes the query."""


def over_http(base_url: str, timeout: float = 10.0) -> Call:
    """Return a function that calls a server. Use it in one thread only, because it keeps one connection open.

    The function raises OSError and HTTPException.
    """
    address = urlsplit(base_url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=timeout)

    def send_request(method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        connection.request(method, address.path.rstrip("/") + target, body, dict(headers))
        with connection.getresponse() as response:
            return Answer(response.status, parse_json_or_none(response.read()))

    def call(method: str, target: str, body: Any, headers: Mapping[str, str]) -> Answer:
        raw, all_headers = encode_body(body, headers)
        try:
            with suppress(ConnectionError):  # the server may have closed a kept connection
                return send_request(method, target, raw, all_headers)
            connection.close()
            return send_request(method, target, raw, all_headers)
        except (OSError, http.client.HTTPException):
            connection.close()
            raise

    return call


def in_process(app: Any) -> Call:
    """Return a function that calls a WSGI app directly (PEP 3333)."""

    def call(method: str, target: str, body: Any, headers: Mapping[str, str]) -> Answer:
        raw, all_headers = encode_body(body, headers)
        statuses: list[str] = []
        environ = build_environ(method, target, raw or b"", all_headers)
        chunks = app(environ, lambda status, headers, exc_info=None: statuses.append(status))
        return Answer(int(statuses[-1][:3]), parse_json_or_none(b"".join(chunks)))

    return call


def build_environ(method: str, target: str, body: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    path, _, query = target.partition("?")
    header_variables = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}
    return {
        **header_variables,
        "CONTENT_TYPE": header_variables.get("HTTP_CONTENT_TYPE", ""),
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


def encode_body(body: Any, headers: Mapping[str, str]) -> tuple[bytes | None, Mapping[str, str]]:
    if body is None:
        return None, headers
    return json.dumps(body).encode(), {**headers, "Content-Type": "application/json"}


def parse_json_or_none(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return None
