"""From checked observations to the sums that the inbox keeps (pure).

The second line of defence stands here: raw-looking path segments become parameters and data-like names go
under `values` before anything is stored, so that neither waits in the inbox.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from affidavit import Evidence, Template, retemplate
from affidavit.operations import PARAMETER, DailySums, Identity, OperationSum, Part, strip_names
from catalog.path_template import split_path

SECONDS_PER_DAY = 86400


@dataclass(frozen=True)
class Observation:
    """One entry of a report whose form is right; `shapes` has the evidence of query, request and response."""

    method: str
    path: str
    status: int
    count: int
    first: datetime | None = None
    last: datetime | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    undecided: Sequence[int] = ()
    shapes: Mapping[str, Evidence] = field(default_factory=dict)


def sum_observations(observations: Iterable[Observation], *, received_at: datetime) -> DailySums:
    """`received_at` stands for times that a reporter left out."""
    sums = DailySums()
    for observation in observations:
        template = retemplate(observation.path, told_types(observation))
        identity = Identity(observation.method, strip_names(template.path))
        sums.add(identity, sum_of(observation, template, received_at))
    return sums


def sum_of(observation: Observation, template: Template, received_at: datetime) -> OperationSum:
    first, last = times(observation, received_at)
    count = observation.count
    names = PARAMETER.findall(template.path)
    return OperationSum(
        first,
        last,
        statuses=Counter({observation.status: count}),
        names=[Counter({name: count}) for name in names],
        types=[Counter({template.parameters.get(name, "unknown"): count}) for name in names],
        undecided=Counter(dict.fromkeys(still_undecided(observation, template.path), count)),
        evidence={part: dated(evidence, first, last) for part, evidence in counted_parts(observation)},
    )


def told_types(observation: Observation) -> dict[str, str]:
    """The type of each parameter of the path as reported; one whose type was left out is unknown."""
    return dict.fromkeys(PARAMETER.findall(observation.path), "unknown") | dict(observation.parameters)


def times(observation: Observation, received_at: datetime) -> tuple[int, int]:
    """First and last in Unix seconds; one that is missing is the other, both missing the time of receipt."""
    last = observation.last or observation.first or received_at
    first = observation.first or last
    return int(first.timestamp()), int(last.timestamp())


def counted_parts(observation: Observation) -> Iterator[tuple[Part, Evidence]]:
    """Query and request from 2xx and 3xx only, the response under its status (contract 4)."""
    for name, evidence in observation.shapes.items():
        if name == "response":
            yield Part(name, observation.status), evidence
        elif 200 <= observation.status < 400:
            yield Part(name), evidence


def still_undecided(observation: Observation, path: str) -> set[int]:
    """Undecided segments but those that the door made parameters."""
    segments = split_path(path)
    return {index for index in observation.undecided if not PARAMETER.search(segments[index])}


def dated(evidence: Evidence, first: int, last: int) -> Evidence:
    """The same evidence, stamped with the days of a first and a last time."""
    evidence.stamp(first // SECONDS_PER_DAY)
    evidence.stamp(last // SECONDS_PER_DAY)
    return evidence
