"""Sums of evidence by operation: any order and any batching of the same reports gives the same sums.

The hub makes a sum of each observation on receipt. A report is the sum of its observations, and the fold adds reports
to the stored sums. Counts change in no other way (contract §4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from affidavit._shapes.evidence import Evidence
from affidavit._shapes.media_types import bound_media_types, reduce_media_type

from ._identity import Identity

REQUEST = "request"


def build_media_types(status: int, request: str | None, response: str | None) -> dict[str, str]:
    """Return the media types of one observation by `part_key`; the request's type for 2xx and 3xx only."""
    request_types = {REQUEST: reduce_media_type(request)} if request and 200 <= status < 400 else {}
    return request_types | ({str(status): reduce_media_type(response)} if response else {})


class Part(NamedTuple):
    """The part of an operation that evidence belongs to: the query, the request, or the response of one status."""

    name: str
    status: int | None = None


def part_key(part: Part) -> str:
    """Return how addresses, rules and drift name a part: `query`, `request`, or the status of a response."""
    return str(part.status or part.name)


@dataclass
class OperationSum:
    """Everything observed of one operation.

    first, last: Unix seconds.
    names, types: the counts by the position of the parameter.
    media_types: how often each media type was observed, by `part_key` of the request or response.
    """

    first: int
    last: int
    statuses: Counter[int] = field(default_factory=Counter)
    names: list[Counter[str]] = field(default_factory=list)
    types: list[Counter[str]] = field(default_factory=list)
    undecided: Counter[int] = field(default_factory=Counter)
    evidence: dict[Part, Evidence] = field(default_factory=dict)
    media_types: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, other: OperationSum) -> None:
        """Add another sum of the same operation to this one."""
        self.first = min(self.first, other.first)
        self.last = max(self.last, other.last)
        self.statuses.update(other.statuses)
        for mine, theirs in zip(self.names + self.types, other.names + other.types, strict=True):
            mine.update(theirs)
        self.undecided.update(other.undecided)
        for part, evidence in other.evidence.items():
            self.evidence.setdefault(part, Evidence()).add(evidence)
        self.media_types = {
            key: bound_media_types(self.media_types.get(key, Counter()) + other.media_types.get(key, Counter()))
            for key in self.media_types.keys() | other.media_types.keys()
        }

    @property
    def observations(self) -> int:
        return self.statuses.total()

    def to_facts(self) -> dict[str, Any]:
        """Return everything but times and evidence as JSON. Equal sums give the same bytes."""
        return {
            "statuses": _sort_by_text(self.statuses),
            "names": [_sort_by_text(counts) for counts in self.names],
            "types": [_sort_by_text(counts) for counts in self.types],
            "undecided": _sort_by_text(self.undecided),
            "media_types": {key: _sort_by_text(self.media_types[key]) for key in sorted(self.media_types)},
        }

    def to_state(self) -> dict[str, Any]:
        """Return a lossless form for storage."""
        parts = [[part.name, part.status, evidence.to_state()] for part, evidence in self.evidence.items()]
        return {"first": self.first, "last": self.last, **self.to_facts(), "parts": parts}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> OperationSum:
        """Return the sum that `to_state` wrote, perhaps in a version without media types.

        The state is not checked: it comes from our own storage.
        """
        return cls(
            first=state["first"],
            last=state["last"],
            statuses=Counter({int(status): count for status, count in state["statuses"].items()}),
            names=[Counter(counts) for counts in state["names"]],
            types=[Counter(counts) for counts in state["types"]],
            undecided=Counter({int(index): count for index, count in state["undecided"].items()}),
            evidence={Part(name, status): Evidence.from_state(evidence) for name, status, evidence in state["parts"]},
            media_types={key: Counter(counts) for key, counts in state.get("media_types", {}).items()},
        )


class OperationSums:
    """Sums of many operations, by identity."""

    def __init__(self) -> None:
        self._by_identity: dict[Identity, OperationSum] = {}

    def __iter__(self) -> Iterator[tuple[Identity, OperationSum]]:
        return iter(sorted(self._by_identity.items(), key=lambda item: item[0]))

    def __len__(self) -> int:
        return len(self._by_identity)

    def add(self, identity: Identity, operation_sum: OperationSum) -> None:
        """Add a sum. The caller must not use the sum afterwards: later additions change it."""
        if total := self._by_identity.get(identity):
            total.add(operation_sum)
        else:
            self._by_identity[identity] = operation_sum

    def to_state(self) -> list[dict[str, Any]]:
        return [{"method": method, "key": key, **operation_sum.to_state()} for (method, key), operation_sum in self]


def _sort_by_text(counts: Mapping[Any, int]) -> dict[str, int]:
    """Return counts with text keys, as JSON needs them, in the order of the original keys."""
    return {str(key): counts[key] for key in sorted(counts)}
