"""Decide which hosts of a recording are read."""

from __future__ import annotations

from collections.abc import Collection


def hosts_differ(host: str, hosts: Collection[str]) -> bool:
    """Return whether `host` is none of `hosts`. A host in `hosts` may be written without its port."""
    return host not in hosts and host.rpartition(":")[0] not in hosts
