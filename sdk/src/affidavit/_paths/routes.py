"""The routes of frameworks as path templates, with the types that they name (contract §4)."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote

from .template_limits import MAX_PARAMETER_NAME, is_too_long
from .templates import Template, retemplate

PATH_SAFE = "/%:@!$&'()*+,;=-._~"
"""Characters that a path may hold without an escape (RFC 3986)."""

_CONVERTER = re.compile(
    r"<(?:(?P<before>[^<>:]*):)?(?P<angled>[A-Za-z_]\w*)>|\{(?P<braced>[A-Za-z_]\w*)(?::(?P<behind>[^{}]*))?\}"
)
UNKNOWN = "unknown"
"""The type of a parameter whose route names no type."""

_TYPES = {
    "int": "integer", "integer": "integer", "float": "number",
    **dict.fromkeys(("str", "string", "slug", "path", "uuid", "any"), "string"),
}  # fmt: skip
_DIGITS = re.compile(r"(?:\\d|\[0-9\])(?:\+|\{\d+(?:,\d*)?\})?")
_GROUP = re.compile(r"\(\?P<([A-Za-z_]\w*)>")
_IN_GROUP = re.compile(r"(?s:\\.)|\[\^?\]?(?:\\.|[^\]\\])*\]|[()]")
_ANCHORS = re.compile(r"\^|/\?(?:\$|\\Z)\Z|(?:\$|\\Z)\Z")
_ESCAPED = re.compile(r"\\([./_~@:-])")
_REGULAR_EXPRESSION = re.compile(r"[\^$()\\|*+?\[\]]")
_PLAIN_PATH = re.compile(r"[A-Za-z0-9/._~-]*")
_REPEATED_SLASHES = re.compile(r"//+")


class _Route(NamedTuple):
    """A path with `{name}` for its parameters, and the JSON type of each, UNKNOWN if the route names none."""

    path: str
    types: Mapping[str, str]


def quote_path(path: str) -> str:
    """Percent-encode a decoded path. Most paths need no encoding."""
    return path if _PLAIN_PATH.fullmatch(path) else quote(path, errors="replace")


def clean_path(path: str) -> str:
    """Return a decoded path as lenient frameworks route it.

    Flask drops slashes in front, Litestar all that are repeated, Bottle bytes that are not UTF-8.
    """
    return _REPEATED_SLASHES.sub("/", path.encode("utf-8", "ignore").decode("utf-8"))


def parse_route_path(rule: str) -> str | None:
    """Return the path template of a framework's route; None for a regular expression with more than named groups.

    `/orders/<int:pk>` of Django and Flask, `/orders/{pk:int}` of Starlette, `/orders/(?P<pk>\\d+)$` -> `/orders/{pk}`.
    """
    route = _parse_route(rule)
    return None if route is None else route.path


@lru_cache(maxsize=1024)
def build_route_template(rule: str) -> Template | None:
    """Return the template of a route as the hub accepts it, with the types of its converters.

    Return None if the route cannot be written as a template, or is too long.
    """
    route = _parse_route(rule)
    if route is None or not route.path.startswith("/"):
        return None
    template = retemplate(quote(route.path, safe=PATH_SAFE + "{}", errors="replace"), route.types)
    fits = not is_too_long(template.path) and all(len(name) <= MAX_PARAMETER_NAME for name in template.parameters)
    return template if fits else None


@lru_cache(maxsize=1024)
def _parse_route(rule: str) -> _Route | None:
    types: dict[str, str] = {}

    def replace_converter(match: re.Match[str]) -> str:
        name = match["angled"] or match["braced"]
        converter = (match["before"] or match["behind"] or "").partition("(")[0]
        types[name] = _TYPES.get(converter, UNKNOWN)
        return f"{{{name}}}"

    path = _CONVERTER.sub(replace_converter, _ESCAPED.sub(r"\1", _ANCHORS.sub("", _replace_named_groups(rule))))
    return None if _REGULAR_EXPRESSION.search(path) or "<" in path else _Route(path, types)


def _replace_named_groups(rule: str) -> str:
    """Replace named groups: `(?P<pk>[0-9]+)` -> `<int:pk>`, `(?P<name>[a-z]+)` -> `<name>`."""
    parts, start = list[str](), 0
    while group := _GROUP.search(rule, start):
        end = _find_group_end(rule, group.end())
        converter = "int:" if _DIGITS.fullmatch(rule, group.end(), end - 1) else ""
        parts += rule[start : group.start()], f"<{converter}{group[1]}>"
        start = end
    return "".join([*parts, rule[start:]])


def _find_group_end(rule: str, start: int) -> int:
    depth = 1
    for mark in _IN_GROUP.finditer(rule, start):
        depth += {"(": 1, ")": -1}.get(mark[0], 0)
        if depth == 0:
            return mark.end()
    return len(rule)
