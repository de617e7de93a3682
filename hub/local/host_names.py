"""The names of this machine, and how programs call the address on which the hub listens."""

from __future__ import annotations

THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1", "[::1]"})
LOCAL_HOSTS = {"0.0.0.0": "127.0.0.1", "::": "127.0.0.1"}  # the address here of a hub that listens on all addresses


def bracket(host: str) -> str:
    """Return the host as addresses and Host headers have it: an address of IPv6 is in brackets."""
    return f"[{host}]" if ":" in host else host
