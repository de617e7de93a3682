"""The address on which the web server listens: whether it is free, and how this machine and its users reach it."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Any

from django.conf import settings

from hub.local.host_names import LOCAL_HOSTS, bracket
from hub.local.startup_errors import StartupError


def check_port(host: str, port: int) -> None:
    """Raise StartupError if the port is taken or the address is not this machine's."""
    try:
        family, kind, protocol, _, address = resolve(host, port)
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise StartupError(
            f"cannot listen on {host} port {port} ({error.strerror}). Set HUB_HOST or HUB_PORT to a free address."
        ) from None


def find_address(host: str) -> str:
    """Return the address of a host name, because the web server takes no names; the name itself if it has none."""
    with suppress(OSError):
        return str(resolve(host, settings.HUB_PORT)[-1][0])
    return host


def resolve(host: str, port: int) -> tuple[Any, ...]:
    """Return the first of getaddrinfo's rows, which ends with the address of this host and port. Raises OSError."""
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]


def build_address(*, local: bool = False) -> str:
    """Return the hub's address; `local` names this machine if the hub listens on all addresses."""
    host = local_host() if local else settings.HUB_HOST
    return f"http://{bracket(host)}:{settings.HUB_PORT}"


def local_host() -> str:
    return str(LOCAL_HOSTS.get(settings.HUB_HOST, settings.HUB_HOST))
