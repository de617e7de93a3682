"""A call of an operation as a line for a shell (pure): every place of a value says its type, and holds none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from shlex import quote
from typing import Any
from urllib.parse import quote as percent_encoded

from catalog.evidence.outlines import Descriptor, Outline, has_body

ORIGIN = "https://api.example.com"
QUERY_SHOWN, DEEPEST, NAMES_SHOWN = 12, 3, 30
MORE = "…"


def curl(outline: Outline) -> str:
    """`curl -X GET 'https://api.example.com/orders/{orderId}'`; an argument on each further line."""
    return " \\\n  ".join(arguments(outline))


def arguments(outline: Outline) -> Iterator[str]:
    address = f"{ORIGIN}{outline['path']}{query_of(outline['query'])}"
    yield f"curl --globoff -X {quote(outline['method'])} {quote(address)}"
    yield f"-H {quote('X-Service-Intent: <intent>')}"
    if outline["request"] is not None and has_body(outline["request"]):
        yield f"-H {quote('Content-Type: application/json')}"
        yield f"--data {quote(json.dumps(placeholder(outline['request']), ensure_ascii=False))}"


def query_of(query: Descriptor | None) -> str:
    """`?expand={string}`: the first names, each with the place of its value."""
    names = list((query or {}).get("properties", {}).items())[:QUERY_SHOWN]
    return "?" * bool(names) + "&".join(f"{percent_encoded(name, safe='')}={{{type_of(told)}}}" for name, told in names)


def type_of(told: Descriptor) -> str:
    """Of a name that comes several times in a query, the type of each."""
    return type_of(told["items"]) if told["type"] == "array" else str(told["type"])


def placeholder(shape: Descriptor, level: int = 1) -> Any:
    """A value of this shape in which every scalar is its type in angle brackets."""
    if shape["type"] == "array":
        return [placeholder(shape["items"], level)]
    if "properties" in shape or "values" in shape:
        return {MORE: MORE} if level > DEEPEST else dict(members(shape, level))
    return {} if shape.get("of") == "object" else f"<{shape['type']}>"


def members(shape: Descriptor, level: int) -> Iterator[tuple[str, Any]]:
    names = list(shape.get("properties", {}).items())
    for name, inner in names[:NAMES_SHOWN]:
        yield name, placeholder(inner, level + 1)
    if "values" in shape:
        yield "<key>", placeholder(shape["values"], level + 1)
    if len(names) > NAMES_SHOWN:
        yield MORE, MORE
