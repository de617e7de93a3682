"""The route of a request in Starlette, FastAPI and Litestar: the mounts around it, the types of its parameters."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any
from uuid import UUID

from .scope import Entrance, Scope, join_path

_CONVERTERS = {int: "int", float: "float", str: "str", UUID: "uuid"}
"""The name of a converter in a route, by the type in a view's signature."""
_PLAIN_PARAMETER = re.compile(r"\{([A-Za-z_]\w*)\}")
REST = "path"
"""The parameter that a mount of Starlette has for the rest of the path."""
_MAX_TYPED_RULES = 1024
_typed_rules: dict[tuple[int, str], tuple[object, str]] = {}
"""The results of `_add_converters`, kept because they are the same for every request.

The key is the id of the endpoint, which may have no hash, and the rule. The endpoint is kept, so that its id stays its
own.
"""


def has_no_route(scope: Scope) -> bool:
    """Return whether Starlette, FastAPI or Litestar found no route: an unknown path, or one to redirect.

    It is also true for OPTIONS if a middleware of Starlette answered before the routes were asked: a preflight of CORS.
    """
    if "litestar_app" in scope:
        return "path_template" not in scope
    is_starlette = "router" in scope or (scope["method"] == "OPTIONS" and hasattr(scope.get("app"), "router"))
    return is_starlette and "endpoint" not in scope


def find_route(scope: Scope, entrance: Entrance) -> str | None:
    """Return the route that Starlette, FastAPI or Litestar found, its mounts included; None if it is unknown."""
    if "litestar_app" in scope:
        return _find_litestar_route(scope, entrance)
    route = find_route_object(scope)
    rule = getattr(route, "path", None)
    if not isinstance(rule, str):
        return None
    prefix = _find_prefix(scope, entrance, rule)
    return None if prefix is None else prefix + find_typed_rule(route, scope.get("endpoint"))


def find_typed_rule(route: Any, endpoint: object) -> str:
    """Return the rule of a route without its mounts. FastAPI's has the types of the view's parameters."""
    rule: str = route.path
    dependant = getattr(route, "dependant", None)
    return rule if dependant is None else _add_converters(endpoint, rule, dependant)


def find_route_object(scope: Scope) -> object | None:
    """Return the object of Starlette or FastAPI that has the rule of the route; None for a mount or without a route."""
    route = scope.get("route")
    if not hasattr(route, "methods"):
        return None
    return _find_effective_route(route, scope["fastapi"]) if "fastapi" in scope else route


def _find_litestar_route(scope: Scope, entrance: Entrance) -> str | None:
    """Return the route with the mount prefix, without converters; None for a mounted app, as its template is empty.

    It is None as well if a mount of Starlette around Litestar has a parameter, because Litestar replaces its value.
    """
    template, base = scope.get("path_template"), _choose_base(scope, entrance)
    if not (isinstance(template, str) and template) or base is None or has_mount_parameter(scope):
        return None
    return (base + _read_mount(scope)).rstrip("/") + template


def _find_base(scope: Scope) -> str:
    return str(scope.get("app_root_path", scope.get("root_path", "")))


def _read_mount(scope: Scope) -> str:
    """Return what mounts of Starlette took from the path."""
    return str(scope.get("root_path", "")).removeprefix(_find_base(scope))


def _choose_base(scope: Scope, entrance: Entrance) -> str | None:
    """Return the part of the prefix that no mount of Starlette took from the path.

    It is that of the server, or the setting of an app of FastAPI. It is None if middleware took more from the path,
    which may be a value. If middleware got the prefix from elsewhere, as from a header of a proxy, it does not count.
    """
    base = _find_base(scope)
    own_bases = (getattr(app, "root_path", None) for app in (entrance.app, scope.get("app")))
    if base in ("", entrance.base, *own_bases):
        return base
    return None if join_path(entrance.path, base) == entrance.path else entrance.base


def has_mount_parameter(scope: Scope) -> bool:
    """Return whether a mount of Starlette with a parameter took something from the path, so that this is a value."""
    return any(_list_mount_chains(scope, _read_mount(scope)))


def _find_effective_route(route: object, fastapi: object) -> object:
    """Return the route with the prefixes of included routers, which a newer FastAPI keeps in a context of its own."""
    context = fastapi.get("effective_route_context") if isinstance(fastapi, dict) else None
    is_included = context is not None and getattr(context, "original_route", None) is route
    return context if is_included else route


def _add_converters(endpoint: object, rule: str, dependant: object) -> str:
    """Return `/orders/{pk:int}` for `/orders/{pk}`, if the signature of a FastAPI view has `pk: int`."""
    known_rule = _typed_rules.get((id(endpoint), rule))
    if known_rule is not None:
        return known_rule[1]
    converters = dict(_list_converters(dependant))
    typed_rule = _PLAIN_PARAMETER.sub(
        lambda match: f"{{{match[1]}:{converters[match[1]]}}}" if match[1] in converters else match[0], rule
    )
    if len(_typed_rules) < _MAX_TYPED_RULES:
        _typed_rules[id(endpoint), rule] = endpoint, typed_rule
    return typed_rule


def _list_converters(dependant: Any) -> Iterator[tuple[str, str]]:
    """Yield name and converter of the path parameters of a view and of its dependencies."""
    for parameter in getattr(dependant, "path_params", ()):
        annotation = getattr(parameter.field_info, "annotation", None)
        if isinstance(annotation, type) and annotation in _CONVERTERS:
            yield parameter.alias, _CONVERTERS[annotation]
    for inner in getattr(dependant, "dependencies", ()):
        yield from _list_converters(inner)


def _find_prefix(scope: Scope, entrance: Entrance, rule: str) -> str | None:
    """Return the prefix of a route, with `{name}` for the parameters of mounts; None if these cannot be identified.

    The scope has only the values of these parameters, which are data and must not be in a route.
    """
    values = scope.get("path_params", {})
    mount_names = _list_mount_names(rule, tuple(values))
    if not (mount_names or scope.get("root_path") or scope.get("app_root_path")):  # as in most apps
        return ""
    base = _choose_base(scope, entrance)
    if base is None:
        return None
    mount = _read_mount(scope)
    if not (mount or mount_names):
        return base
    if any(sorted(names) != sorted(mount_names) for names in _list_mount_chains(scope, mount)):
        return None  # an inner parameter has the name of one in a mount, whose value is lost
    segments = mount.split("/")
    for name in mount_names:
        value = str(values[name])
        if segments.count(value) != 1:
            return None
        segments[segments.index(value)] = f"{{{name}}}"
    return base + "/".join(segments)


def _list_mount_chains(scope: Scope, mount: str) -> Iterator[list[str]]:
    """Yield the names of the parameters in the mounts of Starlette that may have taken `mount` from the path."""
    return _follow_mounts(getattr(scope.get("router"), "routes", ()), f"{mount}/")


def _follow_mounts(routes: Iterable[Any], path: str) -> Iterator[list[str]]:
    if path == "/":
        yield []
        return
    for route in routes:
        inner_routes, names = getattr(route, "routes", None), getattr(route, "param_convertors", None)
        if inner_routes is None or names is None:  # no mount
            continue
        if hasattr(route, "host"):  # takes nothing from the path; the next mount may be the one, too
            yield from _follow_mounts(inner_routes, path)
        elif match := route.path_regex.match(path):
            own_names = [name for name in names if name != REST]
            yield from ([*own_names, *inner] for inner in _follow_mounts(inner_routes, f"/{match[REST]}"))
            return


@lru_cache(maxsize=1024)
def _list_mount_names(rule: str, names: tuple[str, ...]) -> list[str]:
    """Return the parameters that are not in the route itself, and so belong to mounts."""
    return [name for name in names if f"{{{name}}}" not in rule and f"{{{name}:" not in rule]
