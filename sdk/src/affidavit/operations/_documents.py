"""What is shown of an operation's sum: its named template, its parameters, its entry in a catalog (contract 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from affidavit._shapes.describe import describe
from affidavit._shapes.evidence import Evidence

from ._sums import NAMELESS, Identity, OperationSum, Part

NOT_BEGINNING = frozenset({404, 405, 501})  # a scanner makes no operation (contract 4)
READS = frozenset({"GET", "HEAD", "OPTIONS"})  # methods that pass the confirmation gate (contract 3)


def has_begun(summed: OperationSum) -> bool:
    """Whether there is an operation at all: a status other than 404, 405 and 501 was seen."""
    return not NOT_BEGINNING.issuperset(summed.statuses)


def shown_path(identity: Identity, summed: OperationSum) -> str:
    """The template with the names that were observed most often."""
    return with_names(identity.key, shown_names(summed.names))


def operation_document(identity: Identity, summed: OperationSum, *, counts: bool = True) -> dict[str, Any]:
    """One entry of `/api/catalog`; without counts nothing is left that counting changes."""
    names = shown_names(summed.names)
    seen = {"observations": summed.observations, "firstSeenAt": summed.first, "lastSeenAt": summed.last}
    shapes = {part: describe(evidence, counts=counts) for part, evidence in summed.evidence.items()}
    unseen = describe(Evidence(), counts=counts)
    return {
        "method": identity.method,
        "path": with_names(identity.key, names),
        **(seen if counts else {}),
        "parameters": {
            name: _parameter(types, summed.observations if counts else None)
            for name, types in zip(names, summed.types, strict=True)
        },
        "query": shapes.get(Part("query")),
        "request": shapes.get(Part("request")),
        "responses": {str(status): shapes.get(Part("response", status), unseen) for status in sorted(summed.statuses)},
    }


def _parameter(types: Counter[str], seen: int | None) -> dict[str, Any]:
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


def shown_names(positions: Iterable[Counter[str]]) -> list[str]:
    """By position the name observed most often, ties by code point; a name is given only once in a path."""
    chosen: list[str] = []
    for names in positions:
        ranked = sorted(names, key=lambda name: (-names[name], name))
        chosen.append(next(name for name in _candidates(ranked) if name not in chosen))
    return chosen


def _candidates(ranked: Sequence[str]) -> Iterator[str]:
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
