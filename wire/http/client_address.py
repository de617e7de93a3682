"""Find the client's address behind the proxies that TRUSTED_PROXIES names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from wire.request_context import current_client_address

Network = IPv4Network | IPv6Network

# An address with its port, as some proxies write it; in brackets, the port may be missing
WITH_PORT = re.compile(r"\[([0-9a-f:.]+)\](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5}", re.ASCII | re.IGNORECASE)


class ClientAddressMiddleware:
    """Set `current_client_address` for the time of a request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        address = find_client_address(
            request.META.get("REMOTE_ADDR", ""), request.headers.get("X-Forwarded-For", ""), settings.TRUSTED_PROXIES
        )
        token = current_client_address.set(address)
        try:
            return self.get_response(request)
        finally:
            current_client_address.reset(token)


def find_client_address(peer: str, forwarded_for: str, proxies: Sequence[Network]) -> str:
    """Return the nearest address that is not a trusted proxy's, or the farthest one if all are.

    An address that a proxy reports counts only if that proxy is trusted. Return "" if no address can be read.

    peer: the address from which the connection came.
    forwarded_for: the addresses in X-Forwarded-For, the farthest first.
    """
    nearest_first = [peer, *reversed([part.strip() for part in forwarded_for.split(",") if part.strip()])]
    client = ""
    for text in nearest_first:
        try:
            address = _parse_address(text)
        except ValueError:  # addresses that are farther away cannot be trusted either
            break
        client = str(address)
        if not any(address in network for network in proxies):
            break
    return client


def _parse_address(text: str) -> IPv4Address | IPv6Address:
    """Return an address without its port; raises ValueError.

    An IPv4 address written as IPv6 (::ffff:a.b.c.d) becomes IPv4.
    """
    if match := WITH_PORT.fullmatch(text):
        return _as_ipv4(IPv6Address(match[1])) if match[1] else IPv4Address(match[2])
    return _as_ipv4(ip_address(text.partition("%")[0]))  # without the zone, which only the sender's machine knows


def _as_ipv4(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    return getattr(address, "ipv4_mapped", None) or address
