"""POST to a webhook: to an IP address that was checked, within a deadline, without following redirects."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from alerts.addresses.host_lookup import look_up_host
from alerts.addresses.webhook_address import WebhookAddress

CONNECT_SECONDS = 5.0  # for each address that is tried
TOTAL_SECONDS = 15.0  # from the connection to the status of the answer
MAX_TRIED_ADDRESSES = 3


class RequestFailed(Exception):
    """The request got no valid answer. The message is for people and quotes nothing from the receiver's answer."""


class Response(NamedTuple):
    """The response of a target.

    status: the HTTP status.
    retry_after: the header `Retry-After` as received, "" without one.
    """

    status: int
    retry_after: str = ""


def post(address: WebhookAddress, body: bytes, headers: Mapping[str, str]) -> Response:
    """Send a POST and return the head of the answer, without reading its body. Raises TargetRefused, RequestFailed."""
    ip_addresses = look_up_host(address)
    all_headers = {**headers, "Host": address.authority, "Connection": "close"}
    try:
        with _connect(address, ip_addresses) as connection:
            connection.request("POST", address.request_target, body, all_headers)
            answer = connection.getresponse()
            return Response(answer.status, answer.getheader("Retry-After", ""))
    except ssl.SSLCertVerificationError as error:
        raise RequestFailed(f"TLS certificate refused: {error.verify_message}") from None
    except ssl.SSLError:
        raise RequestFailed("TLS failed") from None
    except TimeoutError:
        raise RequestFailed(f"no answer within {TOTAL_SECONDS:.0f} s") from None
    except ConnectionRefusedError:
        raise RequestFailed("connection refused") from None
    except http.client.HTTPException:
        raise RequestFailed("the answer is not HTTP, or was cut off") from None
    # ValueError and AttributeError: the deadline closed the socket while it was read
    except (OSError, ValueError, AttributeError) as error:
        raise RequestFailed(f"connection failed ({type(error).__name__})") from None


class _FinalResponse(http.client.HTTPResponse):
    """The final response: all 1xx responses before it are skipped. Python itself skips only those of 100."""

    def _read_status(self) -> tuple[str, int, str]:
        version, status, reason = super()._read_status()  # type: ignore[misc]  # typeshed leaves it out
        return version, http.client.CONTINUE if 100 <= status < 200 else status, reason


class _PinnedConnection(http.client.HTTPConnection):
    """A connection over a socket that is already connected to a checked address."""

    auto_open = 0  # never reconnect: that would resolve the host again
    response_class = _FinalResponse

    def __init__(self, address: WebhookAddress, connected_socket: socket.socket) -> None:
        super().__init__(address.host, address.port)
        self.sock = connected_socket


@contextmanager
def _connect(address: WebhookAddress, ip_addresses: Sequence[str]) -> Iterator[_PinnedConnection]:
    """Connect to one of the addresses. After TOTAL_SECONDS the socket is shut down, however slow the receiver is."""
    plain_socket = _open_socket(ip_addresses[:MAX_TRIED_ADDRESSES], address.port)
    with plain_socket.dup() as watched_socket:
        # The timer sets this before it shuts the socket down: an answer that is read later may be cut off.
        is_over = threading.Event()
        timer = threading.Timer(TOTAL_SECONDS, _shut_down, [watched_socket, is_over])
        timer.daemon = True
        timer.start()
        try:
            connected_socket = plain_socket
            if address.scheme == "https":
                context = ssl.create_default_context()
                connected_socket = context.wrap_socket(plain_socket, server_hostname=address.host)
            with connected_socket:
                yield _PinnedConnection(address, connected_socket)
                if is_over.is_set():
                    raise TimeoutError
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            if is_over.is_set():
                raise TimeoutError from None
            raise
        finally:
            timer.cancel()
            plain_socket.close()


def _open_socket(ip_addresses: Sequence[str], port: int) -> socket.socket:
    """Return a socket connected to the first of these IP addresses that answers. Resolve no name.

    Raises RequestFailed or OSError.
    """
    for number, ip in enumerate(ip_addresses, 1):
        try:
            connected_socket = socket.create_connection((ip, port), timeout=CONNECT_SECONDS)
        except OSError as error:
            if number < len(ip_addresses):
                continue
            if isinstance(error, TimeoutError):
                raise RequestFailed(f"no connection within {CONNECT_SECONDS:g} s") from None
            raise
        else:
            connected_socket.settimeout(TOTAL_SECONDS)
            return connected_socket
    raise ConnectionRefusedError


def _shut_down(watched_socket: socket.socket, is_over: threading.Event) -> None:
    is_over.set()
    with suppress(OSError):
        watched_socket.shutdown(socket.SHUT_RDWR)
