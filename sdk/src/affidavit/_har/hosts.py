"""Name the hosts of a recording."""

from __future__ import annotations

_USUAL_PORTS = {"http": "80", "https": "443"}


def list_host_names(scheme: str, authority: str) -> tuple[str, ...]:
    """Return the names of a host, in lower case: with its port and without. The first leaves out the usual port.

    scheme: `http` or `https`.
    authority: the part of a URL after the two slashes.
    """
    address = authority.rpartition("@")[2].lower()
    name, colon, port = address.rpartition(":")
    if not colon or address.endswith("]"):  # an IPv6 address without a port
        name, port = address, ""
    usual_port = _USUAL_PORTS[scheme]
    return (name, f"{name}:{usual_port}") if port in ("", usual_port) else (address, name)
