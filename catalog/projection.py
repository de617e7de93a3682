"""What is shown of a sum (pure): the named template, its parameters, the operation's JSON in the catalog."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from affidavit import Evidence, describe
from catalog.summing import Identity, OperationSum, Part

NOT_BEGINNING = {404, 405, 501}  # a scanner makes no operation (contract 4)
NAMELESS = "{}"


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


def project(identity: Identity, summed: OperationSum) -> Projection:
    names = shown_names(summed.names)
    path = with_names(identity.key, names)
    document = json_text(operation_document(identity.method, path, names, summed, counts=True))
    outline = json_text(operation_document(identity.method, path, names, summed, counts=False))
    found = set(property_names(summed.evidence.values()))
    return Projection(
        begun=any(status not in NOT_BEGINNING for status in summed.statuses),
        path=path,
        observations=summed.observations,
        properties=sum(property_count(evidence) for evidence in summed.evidence.values()),
        search="\n".join([path, *sorted(found)]),
        document=document,
        outline=outline,
        document_digest=hashlib.sha256(document.encode()).digest(),
        outline_digest=hashlib.sha256(outline.encode()).digest(),
    )


def operation_document(
    method: str, path: str, names: Sequence[str], summed: OperationSum, *, counts: bool
) -> dict[str, Any]:
    """One entry of `/api/catalog` (contract 5); without counts nothing is left that counting changes."""
    seen = {"observations": summed.observations, "firstSeenAt": summed.first, "lastSeenAt": summed.last}
    shapes = {part: describe(evidence, counts=counts) for part, evidence in summed.evidence.items()}
    unseen = describe(Evidence(), counts=counts)
    return {
        "method": method,
        "path": path,
        **(seen if counts else {}),
        "parameters": {
            name: parameter(types, summed.observations if counts else None)
            for name, types in zip(names, summed.types, strict=True)
        },
        "query": shapes.get(Part("query")),
        "request": shapes.get(Part("request")),
        "responses": {str(status): shapes.get(Part("response", status), unseen) for status in sorted(summed.statuses)},
    }


def parameter(types: Counter[str], seen: int | None) -> dict[str, Any]:
    """`{type}`; given `seen`, also how often it was there, and of which types where they differ."""
    shown: dict[str, Any] = {"type": parameter_type(types)}
    if seen is None:
        return shown
    shown["seen"] = seen
    if len(types) > 1:
        shown["types"] = {name: types[name] for name in sorted(types)}
    return shown


def parameter_type(types: Iterable[str]) -> str:
    """One type → that; integer and number → number; others differing → string, which every segment is."""
    told = set(types) - {"unknown"}
    if not told:
        return "unknown"
    if told == {"integer", "number"}:
        return "number"
    return told.pop() if len(told) == 1 else "string"


def shown_names(positions: Sequence[Counter[str]]) -> list[str]:
    """By position the name observed most often, ties by code point; a name is given only once in a path."""
    chosen: list[str] = []
    for names in positions:
        ranked = sorted(names, key=lambda name: (-names[name], name))
        chosen.append(next(name for name in candidates(ranked) if name not in chosen))
    return chosen


def candidates(ranked: Sequence[str]) -> Iterator[str]:
    yield from ranked
    number = 2
    while True:
        yield f"{ranked[0]}{number}"
        number += 1


def with_names(key: str, names: Sequence[str]) -> str:
    """`/orders/{}` and `orderId` → `/orders/{orderId}`."""
    literals = key.split(NAMELESS)
    named = [f"{{{name}}}{literal}" for name, literal in zip(names, literals[1:], strict=True)]
    return literals[0] + "".join(named)


def property_names(roots: Iterable[Evidence]) -> Iterator[str]:
    for evidence in roots:
        for name, inner in evidence.properties.items():
            yield name
            yield from property_names([inner])
        yield from property_names(beneath(evidence))


def property_count(evidence: Evidence) -> int:
    own = sum(1 + property_count(inner) for inner in evidence.properties.values())
    return own + sum(property_count(inner) for inner in beneath(evidence))


def beneath(evidence: Evidence) -> list[Evidence]:
    """The nameless places below: items of an array, values of a map."""
    return [inner for inner in (evidence.items, evidence.values) if inner is not None]


def json_text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
