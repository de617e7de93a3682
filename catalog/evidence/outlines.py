"""The outline of an operation: its entry in `/api/catalog?evidence=0` (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from affidavit.operations import REQUEST, is_form, is_json

NO_BODY = {"type": "unknown", "reason": "empty"}

Descriptor = Mapping[str, Any]
Outline = Mapping[str, Any]

JSON_TYPE = "application/json"


def has_body(descriptor: Descriptor) -> bool:
    return descriptor != NO_BODY


def list_media_types(outline: Outline, part: str) -> Sequence[str]:
    """Return the media types of `request` or of a status; [] if none was reported."""
    if part == REQUEST:
        return list(outline.get("requestMediaTypes", ()))
    return list(outline.get("responseMediaTypes", {}).get(part, ()))


def list_contents(outline: Outline, part: str) -> dict[str, Descriptor | None]:
    """Return the bodies of `request` or of a status by media type: a shape for JSON and forms, None for any other.

    A shape that was reported without a media type counts as JSON.
    """
    response = outline["responses"].get(part, NO_BODY)
    shape = outline[REQUEST] if part == REQUEST else response if has_body(response) else None
    contents = {
        media_type: shape if is_json(media_type) or is_form(media_type) else None
        for media_type in list_media_types(outline, part)
    }
    if shape is not None and shape not in contents.values():
        contents[JSON_TYPE] = shape
    return contents


def has_fields(outline: Outline, part: str) -> bool:
    """Return whether a part is a query, or a request that was sent as a form and never as JSON."""
    return part == "query" or (part == REQUEST and are_forms(list_media_types(outline, REQUEST)))


def are_forms(media_types: Iterable[str]) -> bool:
    """Return whether some of these media types have shapes, and all of those are forms."""
    shaped_types = [media_type for media_type in media_types if is_json(media_type) or is_form(media_type)]
    return bool(shaped_types) and all(map(is_form, shaped_types))


def is_repeated_field(descriptor: Descriptor) -> bool:
    """Return whether a field of a query or form was sometimes sent once (a value) and sometimes repeated (an array)."""
    is_divergent = descriptor.get("reason") == "divergent"
    return is_divergent and "items" in descriptor and descriptor.keys().isdisjoint({"properties", "values"})


def list_outline_parts(outline: Outline) -> Iterator[tuple[str, Descriptor]]:
    """Yield `query`, `request` and the statuses whose responses had a body, each with its descriptor."""
    for part in ("query", "request"):
        if outline[part] is not None:
            yield part, outline[part]
    yield from ((status, response) for status, response in outline["responses"].items() if has_body(response))
