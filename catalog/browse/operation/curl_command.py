"""A call of an operation as a shell command (pure), with types in place of values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from shlex import quote
from typing import Any
from urllib.parse import quote as percent_encode

from affidavit.operations import REQUEST, is_form, is_json, is_url_encoded
from catalog.evidence.outlines import Descriptor, Outline, has_body, list_contents

ORIGIN = "https://api.example.com"
MAX_QUERY_NAMES, MAX_DEPTH, MAX_NAMES = 12, 3, 30
ELLIPSIS = "…"


def build_curl_command(outline: Outline) -> str:
    """Return `curl --globoff -X GET 'https://api.example.com/orders/{orderId}'`, and a line for each other argument."""
    return " \\\n  ".join(build_arguments(outline))


def build_arguments(outline: Outline) -> Iterator[str]:
    url = f"{ORIGIN}{outline['path']}{build_query(outline['query'] or {})}"
    # With -X HEAD, curl would wait for a body; with --head it sends none.
    method_option = "--head" if outline["method"] == "HEAD" else f"-X {quote(outline['method'])}"
    yield f"curl --globoff {method_option} {quote(url)}"
    yield f"-H {quote('X-Service-Intent: <intent>')}"
    if outline["method"] == "HEAD":
        return
    contents = list_contents(outline, REQUEST)
    media_type = [*filter(is_json, contents), *contents, ""][0]
    shape = contents.get(media_type)
    if shape is not None and is_form(media_type):
        yield from build_form_arguments(media_type, shape)
    elif shape is not None and has_body(shape):
        yield f"-H {quote(f'Content-Type: {media_type}')}"
        yield f"--data {quote(json.dumps(build_example(shape), ensure_ascii=False))}"
    elif media_type and not is_json(media_type):
        yield f"-H {quote(f'Content-Type: {media_type}')}"
        yield "--data-binary '@<file>'"


def build_query(query: Descriptor) -> str:
    """Return `?expand={string}`: the first names, each with the type of its value."""
    properties = list(query.get("properties", {}).items())[:MAX_QUERY_NAMES]
    pairs = [f"{percent_encode(name, safe='')}={{{find_scalar_type(inner)}}}" for name, inner in properties]
    return f"?{'&'.join(pairs)}" if pairs else ""


def build_form_arguments(media_type: str, form: Descriptor) -> Iterator[str]:
    """Yield an argument for each of the first fields.

    For a multipart form, curl ends a name at its first `=`, and reads the file behind `=@`. A terminal runs a line at
    its end. Fields with such names are left out.
    """
    for name, inner in list(form.get("properties", {}).items())[:MAX_NAMES]:
        field = inner.get("items", inner)
        value = f"<{find_scalar_type(field)}>"
        if is_url_encoded(media_type):
            yield f"--data-urlencode {quote(percent_encode(name, safe='') + f'={value}')}"
        elif name.isprintable() and "=" not in name:
            # With -F, curl would take <string> for the name of a file.
            yield f"-F {quote(f'{name}=@<file>')}" if "format" in field else f"--form-string {quote(f'{name}={value}')}"


def find_scalar_type(descriptor: Descriptor) -> str:
    """Return the type of one value of a name, which may come several times in a query."""
    return find_scalar_type(descriptor["items"]) if "items" in descriptor else str(descriptor["type"])


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
