"""Describe a tool in words: its operation, what it takes and what it answers (pure)."""

from __future__ import annotations

from affidavit.operations import REQUEST
from catalog.downloads.absent_properties import UNOBSERVED, is_marked
from catalog.evidence.outlines import JSON_TYPE, Descriptor, Outline, list_contents

MAX_DESCRIPTION = 1024  # characters, for OpenAI's APIs
MAX_PROPERTIES_NAMED = 12  # properties of a response that a description names


def describe_tool(outline: Outline) -> str:
    """Return `GET /orders/{orderId}. Answers 200 with an object (id, total), 404 with an object (error).`

    Bodies that are not JSON have their media type: `Takes multipart/form-data. Answers 200 with text/csv.` A text
    longer than MAX_DESCRIPTION is cut and ends with `…`.
    """
    requests = list(list_contents(outline, REQUEST))
    takes = f" Takes {' or '.join(requests)}." if requests not in ([], [JSON_TYPE]) else ""
    responses = (f"{status} {describe_contents(outline, status)}" for status in outline["responses"])
    description = f"{outline['method']} {outline['path']}.{takes} Answers {', '.join(responses)}."
    return description if len(description) <= MAX_DESCRIPTION else f"{description[: MAX_DESCRIPTION - 1]}…"


def describe_contents(outline: Outline, status: str) -> str:
    """Return `with an object (id, total) or text/csv`; `without a body` only if none was ever observed."""
    contents = list_contents(outline, status)
    shapes = [shape for shape in contents.values() if shape is not None]
    words = [describe_body(shapes[0])] if shapes else []
    words += [media_type for media_type, shape in contents.items() if shape is None]
    if not words and status in outline.get(UNOBSERVED, ()):
        return "with a body that was not observed since a baseline reset"
    return f"with {' or '.join(words)}" if words else "without a body"


def describe_body(descriptor: Descriptor) -> str:
    kind = descriptor["type"]
    if kind == "array":
        return f"a list of {describe_body(descriptor['items'])}"
    names = [name for name, inner in descriptor.get("properties", {}).items() if not is_marked(inner)]
    if kind != "object" or not names:
        return "a body of unknown type" if kind == "unknown" else f"type {kind}"
    ellipsis = ", …" if len(names) > MAX_PROPERTIES_NAMED else ""
    return f"an object ({', '.join(names[:MAX_PROPERTIES_NAMED])}{ellipsis})"
