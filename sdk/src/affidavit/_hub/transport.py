"""One request to the hub and its JSON answer back: keep-alive, bounded retries, errors that say what to do."""

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
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Protocol
from urllib.parse import urlsplit

from affidavit._errors import HubUnreachable, ReportError
from affidavit._json import Json
from affidavit._version import __version__

from .api_keys import KEY_HEADER
from .responses import Answer, is_passing, refusal, value

DEFAULT_BASE_URL = "http://127.0.0.1:8000"
DEFAULT_TIMEOUT = 10.0
USER_AGENT = f"affidavit/{__version__} Python/{platform.python_version()}"
MAX_ANSWER = 4 * 1024 * 1024


class Transport(Protocol):
    """What the senders need; give your own to test, or to go another way than HTTP."""

    def post_json(self, path: str, body: bytes, headers: Mapping[str, str]) -> Json:
        """Deliver one JSON body to `path` and return the JSON of a 2xx answer; else raise ReportError."""
        ...


class ReadingTransport(Transport, Protocol):
    """What those need that ask the hub as well."""

    def get_json(self, path: str, headers: Mapping[str, str]) -> Json:
        """The JSON of a 2xx answer to a GET of `path`, which may carry a query; else raise ReportError."""
        ...


@dataclass(frozen=True, slots=True)
class Retry:
    """When to try again: at most `attempts` tries, none begun later than `total` seconds after the first.

    The n-th wait is random between 0 and min(longest, first * 2^n) seconds ("full jitter"), on top of
    what a Retry-After header asks for.
    """

    attempts: int = 5
    first: float = 0.5
    longest: float = 8.0
    total: float = 60.0


class _Kept(threading.local):
    """The connection that this thread keeps open, and the process that opened it."""

    connection: http.client.HTTPConnection | None = None
    pid: int = 0


class HttpTransport:
    """HTTP/1.1 to one hub, one kept connection per thread. Safe to share between threads and across fork.

    base_url: http or https, a path prefix is kept. timeout: seconds for each step on the wire (connecting,
    sending, waiting for a piece of the answer). ReportError `invalid-base-url` if the address is none.
    """

    def __init__(
        self,
        base_url: str = DEFAULT_BASE_URL,
        timeout: float = DEFAULT_TIMEOUT,
        *,
        retry: Retry | None = None,
        context: ssl.SSLContext | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._hub = _Hub.parse(base_url)
        self._context = context or (ssl.create_default_context() if self._hub.secure else None)
        self._timeout = timeout
        self._retry = retry or Retry()
        self._sleep, self._clock, self._wall_clock, self._chance = sleep, clock, wall_clock, chance
        self._kept = _Kept()

    def post_json(self, path: str, body: bytes, headers: Mapping[str, str]) -> Json:
        """Deliver `body` at least once, the same bytes and headers on every try.

        Tried again: connection errors, time-outs, 429, 5xx and 409 `idempotency-key-in-use` (an earlier try
        is still at work). Returns the JSON of the 2xx answer. Raises HubUnreachable without any answer,
        ReportError with any other.
        """
        return self._called("POST", path, body, headers)

    def get_json(self, path: str, headers: Mapping[str, str]) -> Json:
        """The JSON at `path`, which may carry a query. Tried again and raises as `post_json`."""
        return self._called("GET", path, None, headers)

    def _called(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Json:
        give_up_at = self._clock() + self._retry.total
        for attempt in itertools.count():
            asked = 0.0
            try:
                answer = self._exchange(method, path, body, headers)
            except (OSError, http.client.HTTPException) as error:
                failure: ReportError = self._unreachable(error)
                passing = not isinstance(error, ssl.SSLCertVerificationError)
            else:
                if 200 <= answer.status < 300:
                    return value(answer)
                failure = refusal(answer, headers.get(KEY_HEADER, ""))
                passing, asked = is_passing(failure), self._asked_wait(answer)
            wait = asked + self._jitter(attempt)
            if not passing or attempt + 1 >= self._retry.attempts or self._clock() + wait > give_up_at:
                raise failure
            self._sleep(wait)
        raise AssertionError("unreachable: the loop returns or raises")

    def close(self) -> None:
        """Close the connection that this thread keeps; the next call opens another."""
        connection, self._kept.connection = self._kept.connection, None
        if connection is not None:
            connection.close()

    def _exchange(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        """One try. A kept connection that the hub has closed meanwhile is replaced at once."""
        kept = self._kept.connection if self._kept.pid == os.getpid() else None
        if kept is not None:
            with suppress(ConnectionError, ssl.SSLEOFError):
                return self._over(kept, method, path, body, headers)
        return self._over(self._connect(), method, path, body, headers)

    def _connect(self) -> http.client.HTTPConnection:
        # A connection from before a fork is dropped, never closed: its socket is the parent's too.
        self._kept.connection = self._hub.connection(self._timeout, self._context)
        self._kept.pid = os.getpid()
        return self._kept.connection

    def _over(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str],
    ) -> Answer:
        of_body = {} if body is None else {"Content-Type": "application/json"}
        fixed = {**of_body, "Accept": "application/json", "User-Agent": USER_AGENT}
        try:
            with suppress(BrokenPipeError):  # refused before all was sent: the answer may stand there already
                connection.request(method, self._hub.prefix + path, body, {**fixed, **headers})
            return _received(connection.getresponse())
        except BaseException:  # an interrupt too leaves half an exchange on the wire
            self.close()
            raise

    def _jitter(self, attempt: int) -> float:
        return float(self._chance() * min(self._retry.longest, self._retry.first * 2**attempt))

    def _asked_wait(self, answer: Answer) -> float:
        """Seconds that Retry-After asks for, given as a number or as a date; 0 when it asks for nothing."""
        text = answer.headers.get("retry-after", "").strip()
        if text.isascii() and text.isdigit():
            return float(text)
        try:
            return max(0.0, parsedate_to_datetime(text).timestamp() - self._wall_clock())
        except ValueError:
            return 0.0

    def _unreachable(self, error: Exception) -> HubUnreachable:
        if isinstance(error, TimeoutError):
            reason = f"nothing came for {self._timeout:g} s"
        elif isinstance(error, ssl.SSLCertVerificationError):
            reason = f"its certificate is not trusted ({error.verify_message})"
        else:
            reason = getattr(error, "strerror", None) or type(error).__name__
        return HubUnreachable(
            f"No answer from {self._hub.address}: {reason}. Check that the hub runs there and can be reached "
            "from here, then send again; repeating is harmless.",
            code="unreachable",
        )


@lru_cache(maxsize=8)
def shared_transport(base_url: str, timeout: float) -> HttpTransport:
    """One transport per hub, so that what is reported as it happens, item by item, shares a connection."""
    return HttpTransport(base_url, timeout)


@dataclass(frozen=True, slots=True)
class _Hub:
    secure: bool
    host: str
    port: int | None
    prefix: str

    @classmethod
    def parse(cls, base_url: str) -> "_Hub":
        try:
            url = urlsplit(base_url)
            host, port = url.hostname, url.port
        except (ValueError, AttributeError, TypeError):
            raise _invalid_base_url() from None
        extra = url.query or url.fragment or url.username is not None or url.password is not None
        if url.scheme not in ("http", "https") or not host or extra or not base_url.isascii():
            raise _invalid_base_url()
        return cls(url.scheme == "https", host, port, url.path.rstrip("/"))

    @property
    def address(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        return f"{'https' if self.secure else 'http'}://{host}{port}{self.prefix}"

    def connection(self, timeout: float, context: ssl.SSLContext | None) -> http.client.HTTPConnection:
        if self.secure:
            return http.client.HTTPSConnection(self.host, self.port, timeout=timeout, context=context)
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)


def _invalid_base_url() -> ReportError:
    detail = "This is no address of a hub. Give one such as https://hub.example.com, without query or user."
    return ReportError(detail, code="invalid-base-url")


def _received(response: http.client.HTTPResponse) -> Answer:
    with response:
        body = response.read(MAX_ANSWER + 1)
        if len(body) > MAX_ANSWER or response.length:
            raise http.client.IncompleteRead(b"")
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, body)
