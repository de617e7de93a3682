"""Requests to the provider: within a deadline, with answers of a bounded size, to a server with a valid certificate."""

from __future__ import annotations

import ssl
import time
from contextlib import closing
from functools import lru_cache
from io import BytesIO
from typing import Any

from requests import PreparedRequest, ReadTimeout, RequestException, Response, Session
from requests.adapters import HTTPAdapter
from urllib3 import HTTPResponse
from urllib3.exceptions import HTTPError

SILENCE_SECONDS = 5  # for a connection, and for each part of an answer
TOTAL_SECONDS = 10  # for the answer, and those that redirect to it
MAX_BYTES = 1024 * 1024
MAX_REDIRECTS = 3


def open_session() -> Session:
    """Return a session for one request; its errors are RequestException."""
    session = Session()
    session.max_redirects = MAX_REDIRECTS
    for scheme in ("https://", "http://"):
        session.mount(scheme, _BoundedAdapter(time.monotonic() + TOTAL_SECONDS))
    return session


class _BoundedAdapter(HTTPAdapter):
    """Read each answer before it is returned: `requests` has no limit for its size, and none for the whole time."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        # `requests` trusts only certificates that it brings with it; this adds those of the machine, or SSL_CERT_FILE.
        context = load_certificates(ssl.get_default_verify_paths())
        super().init_poolmanager(*args, ssl_context=context, **kwargs)

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        self._check_time()
        response = super().send(request, *args, **{**kwargs, "stream": True, "timeout": SILENCE_SECONDS})
        with closing(response.raw) as stream:
            response.raw = BytesIO(self._read(stream))
        return response

    def _read(self, stream: HTTPResponse) -> bytes:
        body = bytearray()
        try:
            while piece := stream.read1(64 * 1024, decode_content=True):
                body += piece
                self._check_time()
                if len(body) > MAX_BYTES:
                    raise RequestException(f"the answer is larger than {MAX_BYTES} bytes")
        except HTTPError as error:
            raise RequestException(f"the answer broke off: {type(error).__name__}") from error
        return bytes(body)

    def _check_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise ReadTimeout(f"the answer was not complete within {TOTAL_SECONDS} s")


@lru_cache(maxsize=1)
def load_certificates(_: ssl.DefaultVerifyPaths) -> ssl.SSLContext:
    """Return a context that trusts the certificates of the machine; a new one only if the paths of these change.

    Loading them takes some 20 ms, and a sign-in sends several requests.
    """
    return ssl.create_default_context()
