"""Django's backend for SMTP, which keeps a deadline and reports that a server refused only some of the recipients."""

from __future__ import annotations

import smtplib
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django.core.mail.backends import smtp

TOTAL_SECONDS = 60.0  # from the connection to the server's answer to the whole mail


class SomeRefused(smtplib.SMTPException):
    """The server took the mail, but not for these recipients; `refusals` has its answer to each."""

    def __init__(self, refusals: Mapping[str, tuple[int, bytes]]) -> None:
        super().__init__(refusals)
        self.refusals = refusals


class NoAnswerInTime(smtplib.SMTPServerDisconnected):
    """The server was silent for longer than EMAIL_TIMEOUT, or did not take the mail within TOTAL_SECONDS."""


class Connection(smtplib.SMTP):
    """A connection that ends after TOTAL_SECONDS, however slowly the server sends its answers."""

    _timer: threading.Timer | None = None
    _is_over = False

    def getreply(self) -> tuple[int, bytes]:
        if self._timer is None and self.sock:
            self._start_timer(self.sock)
        try:
            reply = super().getreply()
        except smtplib.SMTPServerDisconnected as error:
            if self._is_over or isinstance(error.__context__, TimeoutError):
                raise NoAnswerInTime from None
            raise
        if self._is_over:  # the answer may be cut off
            self.close()
            raise NoAnswerInTime
        return reply

    def sendmail(self, *arguments: Any, **options: Any) -> dict[str, tuple[int, bytes]]:
        self.ehlo_or_helo_if_needed()
        assert self.sock is not None
        # A server may look for viruses before it answers. Whoever leaves meanwhile would send the mail again later.
        self.sock.settimeout(TOTAL_SECONDS)
        refusals = super().sendmail(*arguments, **options)
        if self.sock:
            self.sock.settimeout(self.timeout)
        if refusals:
            raise SomeRefused(refusals)
        return refusals

    def close(self) -> None:
        super().close()
        if self._timer is not None:
            self._timer.cancel()
            self._watched_socket.close()

    def _start_timer(self, connected_socket: socket.socket) -> None:
        # A copy of the descriptor: STARTTLS puts another object in place of the socket.
        self._watched_socket = socket.fromfd(connected_socket.fileno(), connected_socket.family, connected_socket.type)
        self._timer = threading.Timer(TOTAL_SECONDS, self._shut_down)
        self._timer.daemon = True
        self._timer.start()

    def _shut_down(self) -> None:
        self._is_over = True
        with suppress(OSError):
            self._watched_socket.shutdown(socket.SHUT_RDWR)


class TlsConnection(Connection, smtplib.SMTP_SSL):
    pass


class EmailBackend(smtp.EmailBackend):
    """Send as Django's backend does; raises SomeRefused, after the mail was sent to the other recipients."""

    @property
    def connection_class(self) -> type[Connection]:
        return TlsConnection if self.use_ssl else Connection

    def open(self) -> bool | None:
        try:
            return super().open()
        except OSError:  # Django leaves it open if signing in fails, and our timer would keep it for a while
            with suppress(OSError):
                self.close()
            raise
