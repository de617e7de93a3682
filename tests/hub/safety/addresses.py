"""Every address of the URL configuration, with values for its parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.urls import URLPattern, get_resolver
from django.urls.resolvers import RegexPattern, RoutePattern

PARAMETER = re.compile(r"<(?:(?P<converter>\w+):)?(?P<name>\w+)>")
GROUP = re.compile(r"\(\?P<(?P<name>\w+)>(?:[^()]|\([^()]*\))*\)")
BY_CONVERTER = {"int": "1", "uuid": "7f3e1a9c-1f1b-4b52-9d3c-0f5c3d1f2a3b"}


def list_addresses(values: Mapping[str, str]) -> list[str]:
    """Return an address for each URL pattern.

    values: the values of parameters by name; other parameters get any value that fits.
    """
    return sorted({f"/{address}" for address in _fill_patterns(get_resolver().url_patterns, values)})


def _fill_patterns(patterns: list[Any], values: Mapping[str, str]) -> Iterator[str]:
    for pattern in patterns:
        part = _fill(pattern.pattern, values)
        if isinstance(pattern, URLPattern):
            yield part
        else:
            yield from (part + rest for rest in _fill_patterns(pattern.url_patterns, values))


def _fill(pattern: RoutePattern | RegexPattern, values: Mapping[str, str]) -> str:
    text = str(pattern)
    if isinstance(pattern, RegexPattern):
        return GROUP.sub(lambda match: values.get(match["name"], "x"), text).strip("^$").replace("\\", "")
    return PARAMETER.sub(lambda match: values.get(match["name"], BY_CONVERTER.get(match["converter"] or "", "x")), text)
