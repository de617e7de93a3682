"""Sanitize and sum checked observations, for the inbox to keep (pure).

This is the second line of defence: raw-looking path segments become parameters and data-like names go under `values`
before anything is stored, so that neither reaches the inbox.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar

from affidavit import Evidence, Template, retemplate
from affidavit.operations import (
    PARAMETER,
    SECONDS_PER_DAY,
    DailySums,
    Identity,
    OperationSum,
    Part,
    build_media_types,
    strip_names,
)
from catalog.path_template import split_path

MAX_TEMPLATES = 2000  # kept in each process, because reporters send the same paths again and again
Shape = TypeVar("Shape")


@dataclass(frozen=True)
class Observation:
    """One entry of a well-formed report.

    shapes: the evidence of the query, the request and the response.
    request_media_type, response_media_type: the media types as reported, "" without a body.
    """

    method: str
    path: str
    status: int
    count: int
    first: datetime | None = None
    last: datetime | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    undecided: Sequence[int] = ()
    shapes: Mapping[str, Evidence] = field(default_factory=dict)
    request_media_type: str = ""
    response_media_type: str = ""


def sum_observations(observations: Iterable[Observation], *, received_at: datetime) -> DailySums:
    """Return the sanitized sum by operation and day.

    received_at: the time to use if a reporter left out both times.
    """
    sums = DailySums()
    for observation in observations:
        template = _find_template(observation.path, tuple(_list_parameter_types(observation).items()))
        identity = Identity(observation.method, strip_names(template.path))
        sums.add(identity, _build_sum(observation, template, received_at))
    return sums


def render_sums(observations: Iterable[Observation], *, received_at: datetime) -> str:
    """Return the state of the sum of these observations as JSON, for the inbox."""
    return json.dumps(sum_observations(observations, received_at=received_at).to_state())


def _build_sum(observation: Observation, template: Template, received_at: datetime) -> OperationSum:
    first, last = choose_times(observation, received_at)
    count = observation.count
    names = PARAMETER.findall(template.path)
    return OperationSum(
        first,
        last,
        statuses=Counter({observation.status: count}),
        names=[Counter({name: count}) for name in names],
        types=[Counter({template.parameters.get(name, "unknown"): count}) for name in names],
        undecided=Counter(dict.fromkeys(_list_undecided(observation, template.path), count)),
        media_types=_count_media_types(observation),
        evidence={
            part: _stamp(evidence, first, last)
            for part, evidence in list_counted_parts(observation.status, observation.shapes)
        },
    )


def _count_media_types(observation: Observation) -> dict[str, Counter[str]]:
    types = build_media_types(observation.status, observation.request_media_type, observation.response_media_type)
    return {key: Counter({media_type: observation.count}) for key, media_type in types.items()}


@lru_cache(MAX_TEMPLATES)
def _find_template(path: str, parameter_types: tuple[tuple[str, str], ...]) -> Template:
    return retemplate(path, dict(parameter_types))


def _list_parameter_types(observation: Observation) -> dict[str, str]:
    """Return the type of each parameter of the path as reported; one without a type is unknown."""
    return dict.fromkeys(PARAMETER.findall(observation.path), "unknown") | dict(observation.parameters)


def choose_times(observation: Observation, received_at: datetime) -> tuple[int, int]:
    """Return the first and the last time in Unix seconds.

    If one is missing, it equals the other. If both are missing, they are the time of receipt.
    """
    last = observation.last or observation.first or received_at
    first = observation.first or last
    return int(first.timestamp()), int(last.timestamp())


def list_counted_parts(status: int, shapes: Mapping[str, Shape]) -> Iterator[tuple[Part, Shape]]:
    """Yield the query and the request of 2xx and 3xx only, and the response under its status (contract §4)."""
    for name, shape in shapes.items():
        if name == "response":
            yield Part(name, status), shape
        elif 200 <= status < 400:
            yield Part(name), shape


def _list_undecided(observation: Observation, path: str) -> set[int]:
    """Return the undecided segments, without those that became parameters here."""
    segments = split_path(path)
    return {index for index in observation.undecided if not PARAMETER.search(segments[index])}


def _stamp(evidence: Evidence, first: int, last: int) -> Evidence:
    """Return the same evidence, stamped with the days of a first and a last time."""
    evidence.stamp(first // SECONDS_PER_DAY)
    evidence.stamp(last // SECONDS_PER_DAY)
    return evidence


def pack_sums(sums: str) -> str:
    """Return sums, which are JSON, as the inbox stores them: compressed, so that PostgreSQL does not parse them."""
    return b64encode(zlib.compress(sums.encode(), 1)).decode()


def unpack_sums(stored_sums: Any) -> Any:
    """Return the stored sums. Earlier versions stored them unpacked."""
    return json.loads(zlib.decompress(b64decode(stored_sums))) if isinstance(stored_sums, str) else stored_sums
