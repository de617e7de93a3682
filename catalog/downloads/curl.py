"""A call of an operation as a shell command (pure), with types in place of values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from shlex import quote
from typing import Any
from urllib.parse import quote as percent_encode

from catalog.evidence.outlines import Descriptor, Outline, has_body

ORIGIN = "https://api.example.com"
MAX_QUERY_NAMES, MAX_DEPTH, MAX_NAMES = 12, 3, 30
ELLIPSIS = "…"


def build_curl_command(outline: Outline) -> str:
    """Return `curl -X GET 'https://api.example.com/orders/{orderId}'`, with each further argument on its own line."""
    return " \\\n  ".join(build_arguments(outline))


def build_arguments(outline: Outline) -> Iterator[str]:
    url = f"{ORIGIN}{outline['path']}{build_query(outline['query'] or {})}"
    yield f"curl --globoff -X {quote(outline['method'])} {quote(url)}"
    yield f"-H {quote('X-Service-Intent: <intent>')}"
    if outline["request"] is not None and has_body(outline["request"]):
        yield f"-H {quote('Content-Type: application/json')}"
        yield f"--data {quote(json.dumps(build_example(outline['request']), ensure_ascii=False))}"


def build_query(query: Descriptor) -> str:
    """Return `?expand={string}`: the first names, each with the type of its value."""
    properties = list(query.get("properties", {}).items())[:MAX_QUERY_NAMES]
    pairs = [f"{percent_encode(name, safe='')}={{{find_scalar_type(inner)}}}" for name, inner in properties]
    return f"?{'&'.join(pairs)}" if pairs else ""


def find_scalar_type(descriptor: Descriptor) -> str:
    """Return the type of one value of a name, which may come several times in a query."""
    return find_scalar_type(descriptor["items"]) if descriptor["type"] == "array" else str(descriptor["type"])


def build_example(descriptor: Descriptor, depth: int = 1) -> Any:
    """Return a value of this shape in which every scalar is its type in angle brackets."""
    if descriptor["type"] == "array":
        return [build_example(descriptor["items"], depth)]
    if "properties" in descriptor or "values" in descriptor:
        return {ELLIPSIS: ELLIPSIS} if depth > MAX_DEPTH else dict(build_members(descriptor, depth))
    return {} if descriptor.get("of") == "object" else f"<{descriptor['type']}>"


def build_members(descriptor: Descriptor, depth: int) -> Iterator[tuple[str, Any]]:
    properties = list(descriptor.get("properties", {}).items())
    for name, inner in properties[:MAX_NAMES]:
        yield name, build_example(inner, depth + 1)
    if "values" in descriptor:
        yield "<key>", build_example(descriptor["values"], depth + 1)
    if len(properties) > MAX_NAMES:
        yield ELLIPSIS, ELLIPSIS
