"""What a catalog shows of an operation's sum: the named template, the parameters, the whole entry (contract §5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from affidavit._paths.no_operation_statuses import NO_OPERATION
from affidavit._shapes.evidence import Evidence
from affidavit._shapes.evidence_to_descriptor import describe

from ._identity import NAMELESS, Identity
from ._operation_sums import REQUEST, OperationSum, Part

READS = frozenset({"GET", "HEAD", "OPTIONS"})  # methods that pass the confirmation gate (contract §3)


def has_begun(operation_sum: OperationSum) -> bool:
    """Return whether the operation exists: a status other than 404, 405 and 501 was seen."""
    return not NO_OPERATION.issuperset(operation_sum.statuses)


def name_path(identity: Identity, operation_sum: OperationSum) -> str:
    """Return the template with the names that were observed most often."""
    return fill_names(identity.key, choose_names(operation_sum.names))


def build_operation_document(identity: Identity, operation_sum: OperationSum, *, counts: bool = True) -> dict[str, Any]:
    """Return one entry of `/api/catalog`. Without counts, the entry changes only with the shape."""
    names = choose_names(operation_sum.names)
    totals = {
        "observations": operation_sum.observations,
        "firstSeenAt": operation_sum.first,
        "lastSeenAt": operation_sum.last,
    }
    shapes = {part: describe(evidence, counts=counts) for part, evidence in operation_sum.evidence.items()}
    unknown_shape = describe(Evidence(), counts=counts)
    return {
        "method": identity.method,
        "path": fill_names(identity.key, names),
        **(totals if counts else {}),
        "parameters": {
            name: _describe_parameter(types, operation_sum.observations if counts else None)
            for name, types in zip(names, operation_sum.types, strict=True)
        },
        "query": shapes.get(Part("query")),
        "request": shapes.get(Part("request")),
        "responses": {
            str(status): shapes.get(Part("response", status), unknown_shape)
            for status in sorted(operation_sum.statuses)
        },
        **_list_media_types(operation_sum),
    }


def _list_media_types(operation_sum: OperationSum) -> dict[str, Any]:
    """Return the reported media types of request and responses."""
    by_part = {key: sorted(counts) for key, counts in sorted(operation_sum.media_types.items())}
    request = by_part.pop(REQUEST, None)
    return {
        **({"requestMediaTypes": request} if request else {}),
        **({"responseMediaTypes": by_part} if by_part else {}),
    }


def _describe_parameter(types: Counter[str], count: int | None) -> dict[str, Any]:
    """Return `{type}`; with `count`, also how often it was seen, and the count of each type if they differ."""
    parameter: dict[str, Any] = {"type": merge_parameter_types(types)}
    if count is None:
        return parameter
    parameter["seen"] = count
    if len(types) > 1:
        parameter["types"] = {name: types[name] for name in sorted(types)}
    return parameter


def merge_parameter_types(types: Iterable[str]) -> str:
    """Return the common type: number for integer and number, string for other differing types."""
    known_types = set(types) - {"unknown"}
    if not known_types:
        return "unknown"
    if known_types == {"integer", "number"}:
        return "number"
    return known_types.pop() if len(known_types) == 1 else "string"


def choose_names(positions: Iterable[Counter[str]]) -> list[str]:
    """Return for each position the name observed most often, a different one for each. Code points decide ties."""
    names: list[str] = []
    for counts in positions:
        ranked_names = sorted(counts, key=lambda name: (-counts[name], name))
        names.append(next(name for name in _list_possible_names(ranked_names) if name not in names))
    return names


def _list_possible_names(ranked_names: Sequence[str]) -> Iterator[str]:
    yield from ranked_names
    number = 2
    while True:
        yield f"{ranked_names[0]}{number}"
        number += 1


def fill_names(key: str, names: Sequence[str]) -> str:
    """Return the template of a key: `/orders/{orderId}` for `/orders/{}` and `orderId`."""
    literals = key.split(NAMELESS)
    segments = [f"{{{name}}}{literal}" for name, literal in zip(names, literals[1:], strict=True)]
    return literals[0] + "".join(segments)
