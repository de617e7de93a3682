"""Redacting, inferring and merging every response body of a recording, against `json.loads` and against GenSON.

Each body is parsed, then looked at while it is fresh, as in a reporter; the two are timed apart. A round begins with
nothing known: one evidence, or one of GenSON's builders, for each method, template and status. Candidates take turns,
and figures are of medians of rounds. `known shapes` goes on with the evidence of rounds before, for comparison.
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
from affidavit._har.scan import scan
from affidavit._shapes.infer import observe
from bench._measure import Row, print_table, without_collections
from bench.accuracy import RECORDED, TRAFFIC

ROUNDS = 21
LIMIT_OF_LOADS, LIMIT_OF_GENSON = 1.4, 1 / 5
LIMITED = RECORDED[0]
"""The recording that the limits are meant for; the others are shown."""

Operation = tuple[str, str, int]
"""Method, template and status."""


class Body(NamedTuple):
    operation: Operation
    text: bytes


@dataclass
class Candidate:
    """What is made for each operation, and what is called with each of its bodies. Times are of rounds, in seconds."""

    begin: Callable[[], Any]
    add: Callable[[Any, Any], object]
    starts_afresh: bool = True
    known: dict[Operation, Any] = field(default_factory=dict)
    parsing: list[float] = field(default_factory=list)
    adding: list[float] = field(default_factory=list)

    def run(self, bodies: list[Body]) -> None:
        known = {} if self.starts_afresh else self.known
        parsing = adding = 0.0
        for operation, text in bodies:
            begin = perf_counter()
            value = json.loads(text)
            parsed = perf_counter()
            held = known.get(operation)
            if held is None:
                held = known[operation] = self.begin()
            self.add(held, value)
            adding += perf_counter() - parsed
            parsing += parsed - begin
        self.parsing.append(parsing)
        self.adding.append(adding)


def bodies_of(path: Path) -> list[Body]:
    """All JSON bodies of responses, as recorded."""
    found = []
    for entry in scan(path):
        request, response = entry["request"], entry["response"]
        text = response["content"].get("text")
        if text:
            true = entry.get("_template") or template(urlsplit(request["url"]).path).path
            found.append(Body((request["method"], true, response["status"]), text.encode()))
    return found


def measured(bodies: list[Body]) -> Mapping[str, Candidate]:
    candidates = {
        "ours": Candidate(Evidence, observe),
        "known": Candidate(Evidence, observe, starts_afresh=False),
        "genson": Candidate(SchemaBuilder, SchemaBuilder.add_object),
    }
    candidates["known"].run(bodies)
    with without_collections():
        for _ in range(ROUNDS):
            for candidate in candidates.values():
                candidate.run(bodies)
                gc.collect()  # GenSON leaves circles
    return candidates


def rows(path: Path) -> Iterator[Row]:
    bodies = bodies_of(path)
    candidates = measured(bodies)
    ours, known, genson = (statistics.median(found.adding) for found in candidates.values())
    loads = statistics.median(time for found in candidates.values() for time in found.parsing)
    limits = (LIMIT_OF_LOADS, LIMIT_OF_GENSON) if path.name == LIMITED else (None, None)

    def rate(seconds: float) -> str:
        return f"{len(bodies) / seconds:,.0f} documents/s"

    name, of_loads, of_genson = path.name.partition(".")[0], f"json.loads {rate(loads)}", f"GenSON {rate(genson)}"
    yield Row(f"{name}, {len(bodies):,} bodies", rate(ours), of_loads, ours / loads, limits[0])
    yield Row("... of the time of GenSON", rate(ours), of_genson, ours / genson, limits[1])
    yield Row("... known shapes", rate(known), of_loads, known / loads)


if __name__ == "__main__":
    recorded = [TRAFFIC / name for name in RECORDED if (TRAFFIC / name).exists()]
    if recorded:
        print_table([row for path in recorded for row in rows(path)])
    else:
        print(f"No recorded traffic in {TRAFFIC.name}/ beside the repository.")
