"""Types of path parameters if the route names no type: the form of all observed values decides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import unquote

from affidavit._paths.routes import UNKNOWN
from affidavit._paths.templates import Template, infer_parameter_type

_PARAMETER = re.compile(r"\{([^{}]*)\}")


def find_unknown(template: Template) -> dict[str, str]:
    """Return the parameters whose type the route does not name."""
    return {name: kind for name, kind in template.parameters.items() if kind == UNKNOWN}


def infer_types(template_path: str, path: str) -> Iterator[tuple[str, str]]:
    """Yield name and type of each parameter of a template, by the values in a raw path; none if they do not fit."""
    names, pattern = _compile(template_path)
    match = pattern.fullmatch(path)
    if match is not None:
        yield from (
            (name, infer_parameter_type(unquote(value))) for name, value in zip(names, match.groups(), strict=True)
        )


def merge_types(first: str, second: str) -> str:
    """Return the type of values that were seen as two types; UNKNOWN says nothing."""
    if UNKNOWN in (first, second):
        return second if first == UNKNOWN else first
    return first if first == second else "string"


@lru_cache(maxsize=1024)
def _compile(template_path: str) -> tuple[list[str], re.Pattern[str]]:
    literals_and_names = _PARAMETER.split(template_path)
    pattern = "([^/]+)".join(map(re.escape, literals_and_names[::2]))
    return literals_and_names[1::2], re.compile(pattern)
