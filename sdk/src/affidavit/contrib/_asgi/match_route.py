"""The route of a call that was refused before Starlette or FastAPI saw it.

Only the patterns of the app's routes are matched: no converter and no other code of the app runs, because nothing of
the app may run before an intent held. The result is the route on which the app would have answered the call, unless
middleware inside changes the path.
"""

from collections.abc import Iterable
from typing import Any

from .routes import REST, find_typed_rule
from .scope import Entrance, Scope


def match_route(scope: Scope, entrance: Entrance) -> str | None:
    """Return the route with its mounts; None if no route fits, or if the router of an app around it saw the call."""
    if "endpoint" in scope:
        return None
    app = scope.get("app", entrance.app)
    routes = getattr(getattr(app, "router", None), "routes", None)
    if not isinstance(routes, list):
        return None
    # FastAPI sets the prefix that it was made with only when it is called.
    prefix = str(scope.get("root_path", "") if "app" in scope else getattr(app, "root_path", "") or entrance.root)
    prefix = prefix.rstrip("/")
    path = entrance.scope_path
    if prefix and (path == prefix or path.startswith(f"{prefix}/")):
        path = path.removeprefix(prefix)
    try:
        rule = _match(routes, path, scope["method"]) or _match(routes, path, None)
    except Exception:  # a route of the app's own kind may lack anything, and the refusal must be sent all the same
        return None
    return None if rule is None else prefix + rule


def _match(routes: Iterable[Any], path: str, method: str | None) -> str | None:
    """Return the rule of the first route that fits; None also if a route before it is of an unknown kind.

    method: None for any, as when the app would answer 405.
    """
    for route in routes:
        if hasattr(route, "effective_candidates"):  # a router that FastAPI included; its routes have its prefix
            rule = _match(route.effective_candidates(), path, method)
            if rule is not None:
                return rule
            continue
        own_route = getattr(route, "starlette_route", None) or route
        pattern = getattr(own_route, "path_regex", None)
        if pattern is None:
            return None
        match = pattern.match(path)
        if match is None:
            continue
        inner_routes = getattr(own_route, "routes", None)
        if inner_routes is not None:  # a mount
            inner_rule = _match(inner_routes, f"/{match[REST]}", method)
            return None if inner_rule is None else own_route.path + inner_rule
        if _takes(own_route, method):
            return find_typed_rule(own_route, own_route.endpoint)
    return None


def _takes(route: Any, method: str | None) -> bool:
    """Return whether a route, which may be one of WebSockets, takes requests of this method."""
    return hasattr(route, "methods") and (method is None or not route.methods or method in route.methods)
