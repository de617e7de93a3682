"""Descriptors as JSON Schema 2020-12 (pure): as strict as possible, but every observed body is valid.

The schemas never say `required`: presence is an observed share, not a promise (contract §4). Names that were not seen
yet are allowed, since the next answer may bring one; keys that are data have the schema of their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from catalog.downloads.absent_properties import describe_mark, remove_mark
from catalog.evidence.outlines import Descriptor, Outline, has_fields, is_repeated_field, list_outline_parts

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def build_schema(descriptor: Descriptor) -> dict[str, Any]:
    """Return the schema for which every observed value is valid; `{}` if nothing certain is known.

    The schema of a property that is no longer seen says so, and has `deprecated`.
    """
    if mark := describe_mark(descriptor):
        return build_schema(remove_mark(descriptor)) | mark
    kind = descriptor["type"]
    if kind == "unknown":
        return {}
    schema: dict[str, Any] = {"type": [kind, "null"] if descriptor.get("nullable") else kind}
    if "format" in descriptor and kind == "string":
        schema["format"] = descriptor["format"]
    if kind == "array":
        schema["items"] = build_schema(descriptor["items"])
    if "properties" in descriptor:
        schema["properties"] = {name: build_schema(inner) for name, inner in descriptor["properties"].items()}
    if "values" in descriptor:
        schema["additionalProperties"] = build_schema(descriptor["values"])
    return schema


def build_fields_schema(descriptor: Descriptor) -> dict[str, Any]:
    """Return the schema of a query or a form: a name that is sometimes repeated has one value or a list of such."""
    schema = build_schema(descriptor)
    if not schema:  # an unknown type: its properties are those of some bodies only
        return schema
    for name, inner in descriptor.get("properties", {}).items():
        schema["properties"][name] = build_field_schema(inner)
    if "values" in descriptor:
        schema["additionalProperties"] = build_field_schema(descriptor["values"])
    return schema


def build_field_schema(descriptor: Descriptor) -> dict[str, Any]:
    """Return the schema of one field of a query or a form."""
    if not is_repeated_field(descriptor):
        return build_schema(descriptor)
    item = build_schema(descriptor["items"])
    schema = {"anyOf": [item, {"type": "array", "items": item}]} if item else {}
    return schema | describe_mark(descriptor)


def build_part_schema(outline: Outline, part: str, descriptor: Descriptor) -> dict[str, Any]:
    """Return the schema of `query`, `request` or a status."""
    return build_fields_schema(descriptor) if has_fields(outline, part) else build_schema(descriptor)


def build_schema_document(title: str, outlines: Sequence[Outline]) -> dict[str, Any]:
    """Return one schema document, with every part in `$defs` as `GET /orders/{orderId} 200`, `… query`, `… request`."""
    definitions = {
        f"{outline['method']} {outline['path']} {part}": build_part_schema(outline, part, descriptor)
        for outline in outlines
        for part, descriptor in list_outline_parts(outline)
    }
    return {"$schema": DIALECT, "title": title, "$defs": definitions}
