"""The address of a webhook: its form, and to which IP addresses it may lead (pure).

People enter the addresses to which the hub sends requests. Nobody may use this to reach the hub's own network
(server-side request forgery). So only https, public IP addresses, port 443 and ports from 1024 on are accepted, unless
the operator allows a network.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from wire.errors import InvalidRequest

MAX_LENGTH = 2000
DEFAULT_PORTS = {"https": 443, "http": 80}
FIRST_FREE_PORT = 1024  # lower ones belong to other protocols
ALLOWED_CHARACTERS = re.compile(r"[A-Za-z0-9\-._~:/?\[\]@!$&'()*+,;=%#]+", re.ASCII)
LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
NUMBER = re.compile(r"\d+|0x[0-9a-f]*", re.ASCII)

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network
NAT64 = ip_network("64:ff9b::/96")  # IPv4 behind a translator (RFC 6052)
GLOBAL_UNICAST = ip_network("2000::/3")
# Refused although they are in the space of public addresses
SPECIAL_NETWORKS: Sequence[IPNetwork] = [
    ip_network(network)
    for network in (
        "168.63.129.16/32",  # Azure's own services, metadata among them
        "192.88.99.0/24",  # relays of 6to4 (RFC 7526)
        "192.0.0.0/24",  # protocol assignments, and metadata at Oracle
        "2001::/23",  # protocol assignments, Teredo among them (RFC 2928)
        "2002::/16",  # 6to4, which holds an IPv4 address
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation (RFC 9637)
    )
]


class TargetRefused(InvalidRequest):
    """An alert may not be sent to this address."""


@dataclass(frozen=True)
class WebhookAddress:
    """A parsed address.

    host: the host in lower case, IPv6 without brackets.
    request_target: the path and the query.
    """

    scheme: str
    host: str
    port: int
    request_target: str

    @property
    def authority(self) -> str:
        """Return the value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def shown_address(self) -> str:
        """Return the address as pages show it: without path and query, which may hold a secret."""
        return f"{self.scheme}://{self.authority}"


def parse_webhook_address(text: str) -> WebhookAddress:
    """Read an address strictly; raises TargetRefused, whose message never repeats the address."""
    if not text or len(text) > MAX_LENGTH or not ALLOWED_CHARACTERS.fullmatch(text):
        raise TargetRefused(f"Enter an address of at most {MAX_LENGTH:,} characters, in ASCII and without spaces.")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise TargetRefused("This is no address. Write https://host.example/path.") from None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        raise TargetRefused("Begin the address with https:// and a host.")
    if "@" in parts.netloc:
        raise TargetRefused("The address must not hold a user name or a password.")
    if "#" in text:
        raise TargetRefused("The address must not have a fragment (#…).")
    _check_host(parts.hostname, parts.netloc)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return WebhookAddress(parts.scheme, parts.hostname, DEFAULT_PORTS[parts.scheme] if port is None else port, target)


def check_ip_addresses(
    address: WebhookAddress, ip_addresses: Sequence[str], *, private_networks: Sequence[IPNetwork]
) -> None:
    """Raise TargetRefused unless the hub may send to every one of these IP addresses of the host.

    private_networks: the networks that the operator allows; in these, http and any port are allowed, too.
    """
    if not ip_addresses:
        raise TargetRefused("The host has no address.")
    if all(_is_allowed(ip, private_networks) for ip in ip_addresses):
        return
    if not all(is_public(ip) or _is_allowed(ip, private_networks) for ip in ip_addresses):
        cure = "Use a public one, or have the operator allow its network in WEBHOOK_PRIVATE_TARGETS."
        raise TargetRefused(f"The host leads to an address that is not public. {cure}")
    if address.scheme != "https":
        raise TargetRefused("Use https://: without TLS, others could read and change what is sent.")
    if address.port != DEFAULT_PORTS["https"] and address.port < FIRST_FREE_PORT:
        raise TargetRefused(f"Use port 443, or one from {FIRST_FREE_PORT} on.")


def is_public(ip: str) -> bool:
    """Return whether an IP address belongs to a host on the public internet, in whatever form it is written."""
    address = _unwrap(ip)
    if address is None or any(address in network for network in SPECIAL_NETWORKS):
        return False
    if isinstance(address, IPv6Address) and address not in GLOBAL_UNICAST:
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _is_allowed(ip: str, networks: Sequence[IPNetwork]) -> bool:
    address = _unwrap(ip)
    return address is not None and any(address in network for network in networks)


def _unwrap(ip: str) -> IPAddress | None:
    """Return the address that packets to `ip` reach; None if the text is no address, or an ambiguous one."""
    try:
        address = ip_address(ip)
    except ValueError:
        return None
    if isinstance(address, IPv4Address):
        return address
    if address.scope_id:
        return None
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address


def _check_host(host: str, netloc: str) -> None:
    if "[" in netloc:
        try:
            is_host = not IPv6Address(host).scope_id
        except ValueError:
            is_host = False
    else:
        is_host = _is_name(host)
    if not is_host:
        raise TargetRefused("Write the host as a name or a plain IP address; names in other scripts as punycode.")


def _is_name(host: str) -> bool:
    """Return whether this is a host name or an IPv4 address in its usual form. Systems differ about other forms."""
    labels = host.split(".")
    if NUMBER.fullmatch(labels[-1]):
        try:
            return str(IPv4Address(host)) == host
        except ValueError:
            return False
    return len(host) <= 253 and all(LABEL.fullmatch(label) for label in labels)
