"""Facts of a request from its ASGI scope."""

from typing import Any

Scope = dict[str, Any]


def read_header(scope: Scope, name: bytes) -> str | None:
    """Return a header's value, None if absent. Repeated headers are joined, which makes an intent invalid."""
    values = [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]
    return ",".join(values) if values else None


def read_path(scope: Scope) -> str:
    """Return the path with its mount prefix, whether the server includes it (as ASGI demands) or not."""
    path, prefix = str(scope["path"]), str(scope.get("root_path", "")).rstrip("/")
    return path if path == prefix or path.startswith(prefix + "/") else prefix + path


def has_no_route(scope: Scope) -> bool:
    """Return whether Starlette or FastAPI found no route: an unknown path, or one to redirect."""
    return "router" in scope and "endpoint" not in scope


def find_route(scope: Scope) -> str | None:
    """Return the route that Starlette or FastAPI found, its mounts included; None if it is unknown."""
    route = scope.get("route")
    rule = _read_rule(scope, route) if hasattr(route, "methods") else None  # else a mount
    mount = _find_mount(scope, rule) if isinstance(rule, str) else None
    return None if mount is None else f"{mount}{rule}"


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
    root = str(scope.get("root_path", ""))
    base = str(scope.get("app_root_path", root))
    segments = root.removeprefix(base).split("/")
    for name, value in scope.get("path_params", {}).items():
        if f"{{{name}}}" in rule or f"{{{name}:" in rule:
            continue
        if segments.count(str(value)) != 1:
            return None
        segments[segments.index(str(value))] = f"{{{name}}}"
    return base + "/".join(segments)
