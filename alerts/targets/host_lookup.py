"""Look up the host of a webhook, and check where it leads."""

from __future__ import annotations

import socket
from collections.abc import Sequence

from django.conf import settings

from alerts.targets.webhook_address import TargetRefused, WebhookAddress, check_ip_addresses

MAX_ADDRESSES = 20


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
