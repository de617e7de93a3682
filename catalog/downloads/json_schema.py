"""Descriptors as JSON Schema 2020-12 (pure): as strict as what was seen allows, and no observed body fails it.

Never `required`: presence is how often something was there, not a promise (contract 4). Names that were not seen
yet are allowed, since the next answer may bring one; keys that are data have the schema of their values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NO_BODY = {"type": "unknown", "reason": "empty"}

Descriptor = Mapping[str, Any]
Outline = Mapping[str, Any]
"""An operation as in `/api/catalog?evidence=0`."""


def schema_of(descriptor: Descriptor) -> dict[str, Any]:
    """The schema that every value behind this descriptor fulfils; `{}` where nothing certain is known."""
    kind = descriptor["type"]
    if kind == "unknown":
        return {}
    schema: dict[str, Any] = {"type": [kind, "null"] if descriptor.get("nullable") else kind}
    if kind == "array":
        schema["items"] = schema_of(descriptor["items"])
    if "properties" in descriptor:
        schema["properties"] = {name: schema_of(inner) for name, inner in descriptor["properties"].items()}
    if "values" in descriptor:
        schema["additionalProperties"] = schema_of(descriptor["values"])
    return schema


def has_body(descriptor: Descriptor) -> bool:
    return descriptor != NO_BODY


def parts(outline: Outline) -> Iterator[tuple[str, Descriptor]]:
    """`query`, `request` and the statuses whose answers had a body, each with its descriptor."""
    for part in ("query", "request"):
        if outline[part] is not None:
            yield part, outline[part]
    yield from ((status, answer) for status, answer in outline["responses"].items() if has_body(answer))


def document(title: str, outlines: Sequence[Outline]) -> dict[str, Any]:
    """One schema document: under `$defs` every part by `GET /orders/{orderId} 200`, `… query` or `… request`."""
    definitions = {
        f"{outline['method']} {outline['path']} {part}": schema_of(descriptor)
        for outline in outlines
        for part, descriptor in parts(outline)
    }
    return {"$schema": DIALECT, "title": title, "$defs": definitions}
