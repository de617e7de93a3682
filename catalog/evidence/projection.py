"""What is shown of a sum (pure): the operation's JSON in the catalog, and what lists and searches need of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from affidavit import Evidence
from affidavit.operations import Identity, OperationSum, build_operation_document, has_begun
from catalog.evidence.outlines import list_outline_parts

NAMELESS = ("items", "values")


@dataclass(frozen=True)
class Projection:
    """Everything that `catalog.models.Operation` shows, made of one sum."""

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


def project(identity: Identity, summed: OperationSum) -> Projection:
    shown = build_operation_document(identity, summed)
    document = json_text(shown)
    bare = build_operation_document(identity, summed, counts=False)
    outline = json_text(bare)
    return Projection(
        begun=has_begun(summed),
        path=shown["path"],
        observations=summed.observations,
        properties=sum(property_count(evidence) for evidence in summed.evidence.values()),
        search="\n".join([shown["path"], *sorted(set(typed_names(bare)))]),
        document=document,
        outline=outline,
        document_digest=hashlib.sha256(document.encode()).digest(),
        outline_digest=hashlib.sha256(outline.encode()).digest(),
        unknowns=sum(unknown_count(shape) for _, shape in list_outline_parts(bare)),
    )


def typed_names(outline: Mapping[str, Any]) -> Iterator[str]:
    """`total:number` for every property of every part, and `orderId:integer` for a parameter of the path."""
    yield from (f"{name}:{told['type']}" for name, told in outline["parameters"].items())
    for _, shape in list_outline_parts(outline):
        yield from typed_names_in(shape)


def typed_names_in(descriptor: Mapping[str, Any]) -> Iterator[str]:
    for name, inner in descriptor.get("properties", {}).items():
        yield f"{name}:{inner['type']}"
        yield from typed_names_in(inner)
    for member in NAMELESS:
        if member in descriptor:
            yield from typed_names_in(descriptor[member])


def property_count(evidence: Evidence) -> int:
    own = sum(1 + property_count(inner) for inner in evidence.properties.values())
    return own + sum(property_count(inner) for inner in beneath(evidence))


def unknown_count(descriptor: Mapping[str, Any]) -> int:
    """Places of which the type is unknown, itself among them."""
    inner = [*descriptor.get("properties", {}).values(), *(descriptor[m] for m in NAMELESS if m in descriptor)]
    return (descriptor["type"] == "unknown") + sum(unknown_count(place) for place in inner)


def beneath(evidence: Evidence) -> list[Evidence]:
    """The nameless places below: items of an array, values of a map."""
    return [inner for inner in (evidence.items, evidence.values) if inner is not None]


def json_text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
