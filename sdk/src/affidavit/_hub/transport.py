"""HTTP requests to the hub: JSON in and out, keep-alive, bounded retries, errors that say what to do."""

import http.client
import itertools
import os
import platform
import random
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Protocol

from affidavit._errors import HubUnreachable, ReportError
from affidavit._json import Json
from affidavit._version import __version__

from .api_keys import KEY_HEADER
from .base_url import HubAddress, resolve_base_url
from .connection import LONGEST_ANSWER
from .responses import HubAnswer, is_temporary, parse_answer, read_refusal
from .retries import FOR_A_MINUTE, Retry, read_retry_after

DEFAULT_TIMEOUT = 10.0
USER_AGENT = f"affidavit/{__version__} Python/{platform.python_version()}"
_CHECK_THE_HUB = "Check that the hub runs there and can be reached from here"
_CHECK_THE_CERTIFICATE = (
    "Give the address for which it was issued, or name a file of the certificates that you trust in SSL_CERT_FILE"
)
_CHECK_THE_SCHEME = "Check that the hub speaks TLS there: the address of a hub without TLS begins with http://"
_MAX_ANSWER = 4 * 1024 * 1024
_RANDOM = random.SystemRandom()  # the host's own generator may have the same seed in all processes
_NO_TLS = frozenset({"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"})
"""What OpenSSL, depending on its version, says of a server that does not speak TLS."""


class Transport(Protocol):
    """The way in which reporters send. Implement it for tests, or to use another protocol than HTTP."""

    def post_json(self, path: str, body: bytes, headers: Mapping[str, str]) -> Json:
        """Deliver one JSON body to `path` and return the JSON of a 2xx answer; else raise ReportError."""
        ...


class ReadingTransport(Transport, Protocol):
    """A transport that can read from the hub as well."""

    def get_json(self, path: str, headers: Mapping[str, str]) -> Json:
        """Return the JSON of a 2xx answer to a GET of `path`, which may carry a query; else raise ReportError."""
        ...


class _OpenConnection:
    """A connection, and the process that opened it. It is closed when its thread ends or its transport is gone."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self.connection = connection
        self.pid = os.getpid()

    def __del__(self) -> None:
        self.connection.close()  # after a fork, this closes the socket of this process only


class _ThreadConnection(threading.local):
    """The connection that a thread keeps open, and whether its present call has sent anything."""

    opened: _OpenConnection | None = None
    has_sent = False


class HttpTransport:
    """HTTP/1.1 to one hub, with one open connection per thread. It is safe to share between threads and across fork.

    base_url: http or https, path prefix included; see `resolve_base_url`.
    timeout: seconds for each step on the wire (connecting, sending, waiting for a piece of the answer).
    longest_answer: seconds for a whole answer.

    Raises ReportError `invalid-base-url`.
    """

    def __init__(
        self,
        base_url: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        *,
        longest_answer: float = LONGEST_ANSWER,
        retry: Retry | None = None,
        context: ssl.SSLContext | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
        chance: Callable[[], float] = _RANDOM.random,
    ) -> None:
        self._hub = HubAddress.parse(resolve_base_url(base_url))
        self._context = context or (ssl.create_default_context() if self._hub.secure else None)
        self._timeout, self._longest_answer = timeout, longest_answer
        self._retry = retry or Retry()
        self._sleep, self._clock, self._wall_clock, self._chance = sleep, clock, wall_clock, chance
        self._thread = _ThreadConnection()

    def post_json(self, path: str, body: bytes, headers: Mapping[str, str]) -> Json:
        """Deliver `body` as `post` does. Return the JSON of the answer."""
        return parse_answer(self.post(path, body, headers))

    def get_json(self, path: str, headers: Mapping[str, str]) -> Json:
        """Return the JSON at `path`, which may carry a query. Retries and errors are those of `post`."""
        return parse_answer(self._call("GET", path, None, headers))

    def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> HubAnswer:
        """Deliver `body` at least once, with the same bytes and headers on every try. Return the 2xx answer.

        Time-outs, connection errors, 408, 429, 5xx and 409 `idempotency-key-in-use` (the hub still works on an earlier
        try) are retried. An untrusted certificate is not, nor is a hub without TLS at an https address.

        Raises the error of the last try: HubUnreachable if it got no answer, ReportError for any answer other than 2xx.
        """
        return self._call("POST", path, body, headers)

    def _call(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> HubAnswer:
        give_up_at = self._clock() + self._retry.total
        self._thread.has_sent = False
        for attempt in itertools.count():
            retry_after = 0.0
            try:
                answer = self._try_once(method, path, body, headers)
            except (OSError, http.client.HTTPException) as error:
                failure: ReportError = self._make_unreachable(error)
                is_retryable = not _is_lasting(error)
            else:
                if 200 <= answer.status < 300:
                    return answer
                failure = read_refusal(answer, headers.get(KEY_HEADER, ""))
                is_retryable, retry_after = is_temporary(failure), read_retry_after(answer, self._wall_clock())
            wait = self._retry.choose_wait(attempt, retry_after, give_up_at - self._clock(), chance=self._chance())
            if wait is None or not is_retryable:
                raise failure
            self._sleep(wait)
        raise AssertionError("unreachable: the loop returns or raises")

    def close(self) -> None:
        """Close the connection of this thread; the next call opens another."""
        opened, self._thread.opened = self._thread.opened, None
        if opened is not None:
            opened.connection.close()

    def _try_once(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> HubAnswer:
        """Send the request once. An open connection that the hub has closed meanwhile is replaced at once."""
        opened = self._thread.opened
        if opened is not None and opened.pid == os.getpid() and opened.connection.sock is not None:
            with suppress(ConnectionError, ssl.SSLEOFError):
                return self._send_over(opened.connection, method, path, body, headers)
        return self._send_over(self._connect(), method, path, body, headers)

    def _connect(self) -> http.client.HTTPConnection:
        connection = self._hub.build_connection(self._timeout, self._context, self._longest_answer)
        self._thread.opened = _OpenConnection(connection)
        try:
            connection.connect()
        except RuntimeError as error:  # gevent finds addresses in a thread, and Python 3.12 starts none when it ends
            self.close()
            raise OSError(str(error)) from error
        except BaseException:
            self.close()
            raise
        return connection

    def _send_over(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str],
    ) -> HubAnswer:
        content_type = {} if body is None else {"Content-Type": "application/json"}
        standard_headers = {**content_type, "Accept": "application/json", "User-Agent": USER_AGENT}
        self._thread.has_sent = True
        try:
            with suppress(BrokenPipeError):  # refused before all was sent: the answer may have arrived already
                connection.request(method, self._hub.prefix + path, body, {**standard_headers, **headers})
            return _read_answer(connection.getresponse())
        except BaseException:  # an interrupt too leaves half a request on the wire
            self.close()
            raise

    def _make_unreachable(self, error: Exception) -> HubUnreachable:
        detail = f"No answer from {self._hub.text}: {describe_failure(error, self._timeout)}, then send again."
        return HubUnreachable(detail, code="unreachable", was_sent=self._thread.has_sent)


def _is_lasting(error: Exception) -> bool:
    """Return whether each further try would fail, too, until somebody changes the address or the certificate."""
    return isinstance(error, ssl.SSLCertVerificationError) or (
        isinstance(error, ssl.SSLError) and error.reason in _NO_TLS
    )


def describe_failure(error: Exception, timeout: float) -> str:
    """Return the reason why no answer came, and what to do about it.

    timeout: the seconds for each step on the wire.
    """
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message}). {_CHECK_THE_CERTIFICATE}"
    if isinstance(error, TimeoutError) and not error.strerror:  # that of a socket
        reason = f"nothing came for {timeout:g} s"
    else:
        reason = getattr(error, "strerror", None) or type(error).__name__
    return f"{reason}. {_CHECK_THE_SCHEME if isinstance(error, ssl.SSLError) else _CHECK_THE_HUB}"


@lru_cache(maxsize=8)
def get_shared_transport(base_url: str, timeout: float) -> HttpTransport:
    """Return the transport of a hub, so that reports sent one by one share a connection. It retries for a minute."""
    return HttpTransport(base_url, timeout, retry=FOR_A_MINUTE)


def _read_answer(response: http.client.HTTPResponse) -> HubAnswer:
    with response:
        body = response.read(_MAX_ANSWER + 1)
        if len(body) > _MAX_ANSWER or response.length:
            raise http.client.IncompleteRead(b"")
        return HubAnswer(response.status, {name.lower(): value for name, value in response.getheaders()}, body)
