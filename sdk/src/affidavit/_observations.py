"""What a reporter saw, summed per operation, status and UTC day, ready for the wire (contract 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from ._describe import describe, fit
from ._evidence import Evidence
from ._infer import observe
from ._json import Json
from ._redaction import DEFAULT, Redactor
from ._templates import Template

SECONDS_A_DAY = 86_400
MAX_SHAPE = 1_300_000  # bytes of one descriptor; three of them, and the rest of an observation, fit in 4 MiB


class Absent(Enum):
    """There was no such part; `None` would say that it was null."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


class _Key(NamedTuple):
    path: str
    method: str
    status: int
    day: int


@dataclass
class _Sum:
    first: float
    last: float
    count: int = 0
    parameters: dict[str, str] = field(default_factory=dict)
    undecided: frozenset[int] = frozenset()
    query: Evidence = field(default_factory=Evidence)
    request: Evidence = field(default_factory=Evidence)
    response: Evidence = field(default_factory=Evidence)


class Observations:
    """Sums of requests and responses. Holds shapes and counts, never a value or a raw path.

    redactor: the same for all that is added, since a name that is known already is not judged again.
    """

    def __init__(self, *, redactor: Redactor | None = DEFAULT) -> None:
        self._redactor = redactor
        self._sums: dict[_Key, _Sum] = {}

    def __len__(self) -> int:
        """How many entries there are to send."""
        return len(self._sums)

    def add(
        self,
        method: str,
        template: Template,
        status: int,
        *,
        at: float,
        query: Mapping[str, list[str]] | None = None,
        request: Json | Absent = ABSENT,
        response: Json | Absent = ABSENT,
    ) -> None:
        """Add one request and its response. at: Unix seconds. Beyond 2xx and 3xx, responses only."""
        key = _Key(template.path, method, status, int(at // SECONDS_A_DAY))
        total = self._sums.get(key)
        if total is None:
            total = self._sums[key] = _Sum(first=at, last=at, undecided=frozenset(template.undecided))
        total.count += 1
        total.undecided &= frozenset(template.undecided)  # what was decided once is decided
        total.first, total.last = min(total.first, at), max(total.last, at)
        for name, kind in template.parameters.items():
            total.parameters[name] = kind if total.parameters.get(name, kind) == kind else "string"
        if 200 <= status < 400:
            if query is not None:
                self._observe(total.query, {name: _one_or_all(texts) for name, texts in query.items()})
            self._observe(total.request, request)
        self._observe(total.response, response)

    def entries(self) -> Iterator[dict[str, Json]]:
        """Wire observations, sorted by path, method, status and day; each fits in a body."""
        for key, total in sorted(self._sums.items(), key=lambda entry: entry[0]):
            entry: dict[str, Json] = {
                "method": key.method,
                "path": key.path,
                "status": key.status,
                "count": total.count,
                "firstSeenAt": int(total.first),
                "lastSeenAt": int(total.last),
            }
            if total.parameters:
                entry["parameters"] = {name: {"type": kind} for name, kind in total.parameters.items()}
            if total.undecided:
                entry["undecided"] = [*sorted(total.undecided)]
            for part in ("query", "request", "response"):
                evidence: Evidence = getattr(total, part)
                if evidence.seen:
                    entry[part] = describe(fit(evidence, MAX_SHAPE), max_nodes=None)
            yield entry

    def _observe(self, evidence: Evidence, value: Json | Absent) -> None:
        if not isinstance(value, Absent):
            observe(evidence, value, redactor=self._redactor)


def _one_or_all(texts: list[str]) -> Json:
    """A name that stands once is a string, one that repeats an array of strings."""
    return texts[0] if len(texts) == 1 else list(texts)
