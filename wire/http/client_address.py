"""Find the client's address behind the proxies that TRUSTED_PROXIES names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from wire.request_context import current_client_address

Network = IPv4Network | IPv6Network


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
    """Return an address; an IPv4 address written as IPv6 (::ffff:a.b.c.d) becomes IPv4. Raises ValueError."""
    address = ip_address(text.partition("%")[0])  # without the zone, which only the sender's machine knows
    return getattr(address, "ipv4_mapped", None) or address
