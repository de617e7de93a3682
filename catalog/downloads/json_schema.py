"""Descriptors as JSON Schema 2020-12 (pure): as strict as what was seen allows, and no observed body fails it.

Never `required`: presence is how often something was there, not a promise (contract 4). Names that were not seen
yet are allowed, since the next answer may bring one; keys that are data have the schema of their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from catalog.evidence.outlines import Descriptor, Outline, list_outline_parts

DIALECT = "https://json-schema.org/draft/2020-12/schema"


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


def document(title: str, outlines: Sequence[Outline]) -> dict[str, Any]:
    """One schema document: under `$defs` every part by `GET /orders/{orderId} 200`, `… query` or `… request`."""
    definitions = {
        f"{outline['method']} {outline['path']} {part}": schema_of(descriptor)
        for outline in outlines
        for part, descriptor in list_outline_parts(outline)
    }
    return {"$schema": DIALECT, "title": title, "$defs": definitions}
