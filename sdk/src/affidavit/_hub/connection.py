"""HTTP connections to the hub, on which an answer must be whole after a limited time."""

import errno
import http.client
import io
import socket
import ssl
import time
from functools import partial
from typing import Any

LONGEST_ANSWER = 60.0
"""Seconds in which a whole answer must come, in however many pieces."""


def build_connection(
    host: str,
    port: int | None,
    timeout: float,
    context: ssl.SSLContext | None,
    *,
    longest_answer: float = LONGEST_ANSWER,
) -> http.client.HTTPConnection:
    """Return a connection that is not open yet.

    port: None for the usual one. It is always named, because http.client takes the end of an IPv6 address for a port.
    timeout: seconds for each step on the wire (connecting, sending, waiting for a piece of the answer).
    context: None for plain HTTP.
    longest_answer: seconds for a whole answer; after that, reading raises TimeoutError.
    """
    connection = (
        http.client.HTTPConnection(host, port or http.client.HTTP_PORT, timeout=timeout)
        if context is None
        else http.client.HTTPSConnection(host, port or http.client.HTTPS_PORT, timeout=timeout, context=context)
    )
    connection.response_class = partial(_FinalResponse, seconds=longest_answer)  # type: ignore[assignment]  # called alike
    return connection


class _FinalResponse(http.client.HTTPResponse):
    """The answer after all interim ones, such as 103 of a proxy. Of these, http.client itself passes over 100 only."""

    def __init__(self, sock: socket.socket, *args: Any, seconds: float, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = io.BufferedReader(_TimedReads(sock, self.fp.detach(), seconds))

    def begin(self) -> None:
        super().begin()
        while http.client.PROCESSING <= self.status < http.client.OK:
            self.headers = self.msg = None  # type: ignore[assignment]  # as before the first answer
            super().begin()


class _TimedReads(io.RawIOBase):
    """The bytes of a socket until `seconds` have passed. The timeout of the socket alone allows one byte each time."""

    def __init__(self, sock: socket.socket, source: io.RawIOBase, seconds: float) -> None:
        self._socket, self._source, self._seconds = sock, source, seconds
        self._timeout = sock.gettimeout()
        self._deadline = time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise self._make_error()
        if self._timeout is not None and self._timeout <= remaining:
            return self._source.readinto(buffer)
        self._socket.settimeout(remaining)
        try:
            return self._source.readinto(buffer)
        except TimeoutError:
            raise self._make_error() from None
        finally:
            self._socket.settimeout(self._timeout)

    def _make_error(self) -> TimeoutError:
        return TimeoutError(errno.ETIMEDOUT, f"the answer was not complete after {self._seconds:g} s")

    def close(self) -> None:
        self._source.close()
        super().close()
