"""What an ASGI scope says of a request."""

from typing import Any

Scope = dict[str, Any]


def header(scope: Scope, name: bytes) -> str | None:
    """A header's value; two of one name are joined, which no intent survives."""
    values = [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]
    return ",".join(values) if values else None


def full_path(scope: Scope) -> str:
    """The path with its mount prefix, whether the server has put it there (as ASGI says) or not."""
    path, prefix = str(scope["path"]), str(scope.get("root_path", "")).rstrip("/")
    return path if path == prefix or path.startswith(prefix + "/") else prefix + path


def leads_nowhere(scope: Scope) -> bool:
    """Whether Starlette or FastAPI looked for a route and found none: a stranger's path, or one to redirect."""
    return "router" in scope and "endpoint" not in scope


def route(scope: Scope) -> str | None:
    """The route that Starlette or FastAPI has found, below the mounts on the way to it; None if it is not known."""
    found = scope.get("route")
    rule = getattr(found, "path", None) if hasattr(found, "methods") else None  # else a mount
    mount = _mount(scope, rule) if isinstance(rule, str) else None
    return None if mount is None else f"{mount}{rule}"


def _mount(scope: Scope, rule: str) -> str | None:
    """Where the route is mounted, with the mounts' own parameters; None when it cannot be told which these are.

    The scope has the values only. They are data, and must not stand in a route.
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
