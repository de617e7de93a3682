"""Facts of a request from its ASGI scope."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any

Scope = dict[str, Any]


def read_headers(headers: Iterable[tuple[bytes, bytes]], names: AbstractSet[bytes]) -> dict[bytes, str]:
    """Return the headers of these names, which are in lower case. Repeated ones are joined: no intent passes so."""
    values: dict[bytes, str] = {}
    for key, value in headers:
        name = key.lower()
        if name in names:
            text = value.decode("latin-1")
            values[name] = f"{values[name]},{text}" if name in values else text
    return values


def read_path(scope: Scope) -> str:
    """Return the path with its mount prefix, whether the server includes it (as ASGI demands) or not."""
    return join_path(str(scope["path"]), str(scope.get("root_path", "")))


def join_path(path: str, root: str) -> str:
    """Return the path with its mount prefix. root: `root_path` of the scope before an inner mount changed it."""
    prefix = root.rstrip("/")
    return path if path == prefix or path.startswith(prefix + "/") else prefix + path


def has_no_route(scope: Scope) -> bool:
    """Return whether Starlette or FastAPI found no route: an unknown path, or one to redirect."""
    return "router" in scope and "endpoint" not in scope


def find_route(scope: Scope) -> str | None:
    """Return the route that Starlette or FastAPI found, its mounts included; None if it is unknown."""
    route = scope.get("route")
    if not hasattr(route, "methods"):  # a mount, or none
        return None
    rule = _read_rule(scope, route)
    if not isinstance(rule, str):
        return None
    mount = _find_mount(scope, rule)
    return mount + rule if mount else None if mount is None else rule


def _read_rule(scope: Scope, route: object) -> object:
    """Return the path of a route. Where a newer FastAPI includes routers, its context knows it with their prefixes."""
    fastapi = scope.get("fastapi")
    context = fastapi.get("effective_route_context") if isinstance(fastapi, dict) else None
    is_included = context is not None and getattr(context, "original_route", None) is route
    return getattr(context if is_included else route, "path", None)


def _find_mount(scope: Scope, rule: str) -> str | None:
    """Return the mount path of a route with the mounts' parameters; None if they cannot be identified.

    The scope has only their values, which are data and must not be in a route.
    """
    root: str = scope.get("root_path", "")
    base: str = scope.get("app_root_path", root)
    values = scope.get("path_params", {})
    mount_names = _list_mount_names(rule, tuple(values))
    if root == base and not mount_names:  # as in most apps
        return base
    segments = root.removeprefix(base).split("/")
    for name in mount_names:
        value = str(values[name])
        if segments.count(value) != 1:
            return None
        segments[segments.index(value)] = f"{{{name}}}"
    return base + "/".join(segments)


@lru_cache(maxsize=1024)
def _list_mount_names(rule: str, names: tuple[str, ...]) -> list[str]:
    """Return the parameters that are not of the route itself."""
    return [name for name in names if f"{{{name}}}" not in rule and f"{{{name}:" not in rule]
