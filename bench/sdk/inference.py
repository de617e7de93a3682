"""Measure how long it takes to redact, infer and merge every response body of a recording.

The times are compared with `json.loads` and GenSON. Each body is parsed and then added at once, as in a reporter;
parsing and adding are timed separately. A round begins without evidence: it makes one Evidence, or one GenSON builder,
for each method, template and status. Candidates take turns, and figures are medians of the rounds. For comparison,
`known shapes` keeps the evidence of earlier rounds.
"""

from __future__ import annotations

import gc
import json
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from genson import SchemaBuilder

from affidavit import Evidence, template
from affidavit._har.file import scan
from affidavit._shapes.values_to_evidence import observe
from bench._support.measure import pause_garbage_collection
from bench._support.result_table import Row, print_table
from bench.sdk.accuracy import RECORDED, TRAFFIC

ROUNDS = 21
LIMIT_OF_LOADS, LIMIT_OF_GENSON = 1.4, 1 / 5
LIMITED = RECORDED[0]
"""The recording to which the limits apply; the others are shown without limits."""

Operation = tuple[str, str, int]
"""Method, template and status."""


class Body(NamedTuple):
    operation: Operation
    text: bytes


@dataclass
class Candidate:
    """One way to collect shapes.

    begin: makes the evidence of an operation.
    add: adds one body to that evidence.
    resets: whether each round begins without evidence.
    parsing, adding: the seconds of each round.
    """

    begin: Callable[[], Any]
    add: Callable[[Any, Any], object]
    resets: bool = True
    evidence_by_operation: dict[Operation, Any] = field(default_factory=dict)
    parsing: list[float] = field(default_factory=list)
    adding: list[float] = field(default_factory=list)

    def run(self, bodies: list[Body]) -> None:
        evidence_by_operation = {} if self.resets else self.evidence_by_operation
        parsing = adding = 0.0
        for operation, text in bodies:
            begin = perf_counter()
            value = json.loads(text)
            parsed = perf_counter()
            evidence = evidence_by_operation.get(operation)
            if evidence is None:
                evidence = evidence_by_operation[operation] = self.begin()
            self.add(evidence, value)
            adding += perf_counter() - parsed
            parsing += parsed - begin
        self.parsing.append(parsing)
        self.adding.append(adding)


def read_bodies(path: Path) -> list[Body]:
    """Return all JSON bodies of responses, as recorded."""
    bodies = []
    for entry in scan(path):
        request, response = entry["request"], entry["response"]
        text = response["content"].get("text")
        if text:
            true_template = entry.get("_template") or template(urlsplit(request["url"]).path).path
            bodies.append(Body((request["method"], true_template, response["status"]), text.encode()))
    return bodies


def run_candidates(bodies: list[Body]) -> Mapping[str, Candidate]:
    candidates = {
        "ours": Candidate(Evidence, observe),
        "known": Candidate(Evidence, observe, resets=False),
        "genson": Candidate(SchemaBuilder, SchemaBuilder.add_object),
    }
    candidates["known"].run(bodies)
    with pause_garbage_collection():
        for _ in range(ROUNDS):
            for candidate in candidates.values():
                candidate.run(bodies)
                gc.collect()  # GenSON leaves reference cycles
    return candidates


def rows(path: Path) -> Iterator[Row]:
    bodies = read_bodies(path)
    candidates = run_candidates(bodies)
    ours, known_shapes, genson = (statistics.median(candidate.adding) for candidate in candidates.values())
    loads = statistics.median(time for candidate in candidates.values() for time in candidate.parsing)
    limits_of_figures = (LIMIT_OF_LOADS, LIMIT_OF_GENSON) if path.name == LIMITED else (None, None)

    def rate(seconds: float) -> str:
        return f"{len(bodies) / seconds:,.0f} documents/s"

    name, of_loads, of_genson = path.name.partition(".")[0], f"json.loads {rate(loads)}", f"GenSON {rate(genson)}"
    yield Row(f"{name}, {len(bodies):,} bodies", rate(ours), of_loads, ours / loads, limits_of_figures[0])
    yield Row("... of the time of GenSON", rate(ours), of_genson, ours / genson, limits_of_figures[1])
    yield Row("... known shapes", rate(known_shapes), of_loads, known_shapes / loads)


if __name__ == "__main__":
    recordings = [TRAFFIC / name for name in RECORDED if (TRAFFIC / name).exists()]
    if recordings:
        print_table([row for path in recordings for row in rows(path)])
    else:
        print(f"No recorded traffic in {TRAFFIC.name}/ beside the repository.")
