"""Look up the host of a webhook, and check where it leads."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.conf import settings

from alerts.addresses.webhook_address import TargetRefused, WebhookAddress, check_ip_addresses

MAX_ADDRESSES = 20
_lock = threading.Lock()
_busy_workspaces: set[str] = set()


class Unresolved(TargetRefused):
    """The host's addresses could not be found; a later attempt may find them."""


def look_up_host(address: WebhookAddress) -> Sequence[str]:
    """Return the IP addresses of a webhook's host, each of which the hub may connect to; raises TargetRefused."""
    try:
        entries = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Unresolved("The host could not be found. Check its spelling.") from None
    ip_addresses = list(dict.fromkeys(str(entry[4][0]) for entry in entries))[:MAX_ADDRESSES]
    check_ip_addresses(address, ip_addresses, private_networks=settings.WEBHOOK_PRIVATE_TARGETS)
    return ip_addresses


@contextmanager
def hold_lookup(workspace_id: str) -> Iterator[None]:
    """Let one thread of this process look up a host for a workspace; raises TargetRefused for a second one.

    A name server that does not answer keeps a thread for many seconds, and a web process has few threads.
    """
    with _lock:
        if workspace_id in _busy_workspaces:
            raise TargetRefused("Another address is still being looked up. Send this one again in a minute.")
        _busy_workspaces.add(workspace_id)
    try:
        yield
    finally:
        with _lock:
            _busy_workspaces.discard(workspace_id)
