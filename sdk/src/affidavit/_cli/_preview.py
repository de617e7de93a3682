"""The catalog that a hub would make of observations: what `--dry-run` prints (contract 4 and 5)."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from affidavit._describe import describe
from affidavit._evidence import Evidence
from affidavit._received import from_descriptor

NOT_BEGINNING = frozenset({404, 405, 501})  # a scanner makes no operation

_PARAMETER = re.compile(r"\{([^{}]*)\}")


@dataclass
class _Operation:
    """The sum of what was observed under one method and template; names and types by parameter position."""

    names: list[Counter[str]]
    types: list[Counter[str]]
    first: float = float("inf")
    last: float = float("-inf")
    statuses: Counter[int] = field(default_factory=Counter)
    query: Evidence = field(default_factory=Evidence)
    request: Evidence = field(default_factory=Evidence)
    responses: dict[int, Evidence] = field(default_factory=dict)


def preview(observations: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The operations that wire observations make, each as in `GET /api/catalog`, by path, then method."""
    sums: dict[tuple[str, str], _Operation] = {}
    for observation in observations:
        names = _PARAMETER.findall(observation["path"])
        identity = (_PARAMETER.sub("{}", observation["path"]), observation["method"])
        fresh = _Operation([Counter() for _ in names], [Counter() for _ in names])
        _add(sums.setdefault(identity, fresh), names, observation)
    shown = [
        _shown(identity, total) for identity, total in sums.items() if not NOT_BEGINNING.issuperset(total.statuses)
    ]
    return sorted(shown, key=lambda operation: (operation["path"], operation["method"]))


def _add(operation: _Operation, names: Sequence[str], observation: Mapping[str, Any]) -> None:
    times, status = observation["count"], observation["status"]
    parameters = observation.get("parameters", {})
    for position, name in enumerate(names):
        operation.names[position][name] += times
        operation.types[position][parameters.get(name, {}).get("type", "string")] += times
    operation.first = min(operation.first, observation["firstSeenAt"])
    operation.last = max(operation.last, observation["lastSeenAt"])
    operation.statuses[status] += times
    response = operation.responses.setdefault(status, Evidence())
    for part, evidence in (
        ("query", operation.query),
        ("request", operation.request),
        ("response", response),
    ):
        if part in observation:
            evidence.add(from_descriptor(observation[part], seen=times))


def _shown(identity: tuple[str, str], operation: _Operation) -> dict[str, Any]:
    key, method = identity
    names = _chosen(operation.names)
    replacement = iter(names)
    return {
        "method": method,
        "path": re.sub(r"\{\}", lambda _: f"{{{next(replacement)}}}", key),
        "observations": operation.statuses.total(),
        "firstSeenAt": operation.first,
        "lastSeenAt": operation.last,
        "parameters": {name: _parameter(types) for name, types in zip(names, operation.types, strict=True)},
        "query": _part(operation.query),
        "request": _part(operation.request),
        "responses": {str(status): describe(operation.responses[status]) for status in sorted(operation.statuses)},
    }


def _part(evidence: Evidence) -> Any:
    return describe(evidence) if evidence.seen else None


def _parameter(types: Counter[str]) -> dict[str, Any]:
    told = set(types) - {"unknown"}
    if len(told) > 1:
        shown = "number" if told == {"integer", "number"} else "string"  # every segment is a string
    else:
        shown = told.pop() if told else "unknown"
    several = {"types": dict(sorted(types.items()))} if len(types) > 1 else {}
    return {"type": shown, "seen": types.total(), **several}


def _chosen(positions: Iterable[Counter[str]]) -> list[str]:
    """By position the name observed most often, ties by code point; each only once in a path."""
    chosen: list[str] = []
    for names in positions:
        ranked = sorted(names, key=lambda name: (-names[name], name))
        chosen.append(next(name for name in _candidates(ranked) if name not in chosen))
    return chosen


def _candidates(ranked: Sequence[str]) -> Iterator[str]:
    yield from ranked
    yield from (f"{ranked[0]}{number}" for number in count(2))
