"""Project summed evidence (pure): the operation's entry in the catalog, and the columns of lists and searches."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from affidavit import Evidence
from affidavit.operations import Identity, OperationSum, build_operation_document, has_begun
from catalog.evidence.outlines import Descriptor, Outline, has_fields, is_repeated_field, list_outline_parts
from catalog.evidence.type_names import has_several_types


@dataclass(frozen=True)
class Projection:
    """The columns of catalog.models.Operation that are derived from its counts and evidence."""

    begun: bool
    path: str
    observations: int
    properties: int
    search: str
    document: str
    outline: str
    document_digest: bytes
    outline_digest: bytes
    unknowns: int


def project(identity: Identity, total: OperationSum) -> Projection:
    document = build_operation_document(identity, total)
    outline = build_operation_document(identity, total, counts=False)
    document_text, outline_text = _render_json(document), _render_json(outline)
    return Projection(
        begun=has_begun(total),
        path=document["path"],
        observations=total.observations,
        properties=sum(_count_properties(evidence) for evidence in total.evidence.values()),
        search="\n".join([document["path"], *sorted(set(_list_typed_names(document)))]),
        document=document_text,
        outline=outline_text,
        document_digest=hashlib.sha256(document_text.encode()).digest(),
        outline_digest=hashlib.sha256(outline_text.encode()).digest(),
        unknowns=sum(_count_unknowns_of_part(outline, *part) for part in list_outline_parts(outline)),
    )


def _list_typed_names(document: Outline) -> Iterator[str]:
    """Yield `total:number` for every property of every part, and `orderId:integer` for a parameter of the path.

    A property with several types, or with null, has one text for each of them.
    """
    yield from (f"{name}:{parameter['type']}" for name, parameter in document["parameters"].items())
    for _, descriptor in list_outline_parts(document):
        yield from _list_property_types(descriptor)


def _list_property_types(descriptor: Descriptor) -> Iterator[str]:
    for name, child in descriptor.get("properties", {}).items():
        yield from (f"{name}:{kind}" for kind in _list_types(child))
    for child in _list_child_descriptors(descriptor):
        yield from _list_property_types(child)


def _list_types(descriptor: Descriptor) -> Iterator[str]:
    yield descriptor["type"]
    if has_several_types(descriptor):
        yield from descriptor.get("types", ())
    if descriptor.get("nulls") and descriptor["type"] != "null":
        yield "null"


def _count_properties(evidence: Evidence) -> int:
    return len(evidence.properties) + sum(_count_properties(child) for child in evidence.children())


def _count_unknowns_of_part(outline: Outline, part: str, descriptor: Descriptor) -> int:
    """Return how many nodes are of unknown type.

    A field of a query or form that was sometimes repeated does not count.
    """
    fields = descriptor.get("properties", {}).values() if has_fields(outline, part) else ()
    return _count_unknowns(descriptor) - sum(map(is_repeated_field, fields))


def _count_unknowns(descriptor: Descriptor) -> int:
    """Return how many nodes are of unknown type, this one included."""
    own = int(descriptor["type"] == "unknown")
    return own + sum(_count_unknowns(child) for child in _list_child_descriptors(descriptor))


def _list_child_descriptors(descriptor: Descriptor) -> Iterator[Descriptor]:
    yield from descriptor.get("properties", {}).values()
    yield from (descriptor[member] for member in ("items", "values") if member in descriptor)


def _render_json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
