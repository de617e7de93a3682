"""Any order and any batching of the same observations give the same sum, byte for byte (contract §4)."""

from __future__ import annotations

import json
import random
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit import infer
from affidavit.operations import DailySums
from catalog.evidence.projection import project
from catalog.ingest.observations import Observation, sum_observations

NOW = datetime(2026, 11, 21, tzinfo=UTC)
SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-2, 2) | st.sampled_from(["", "a", "17"])
NAMES = st.sampled_from(["id", "name", "items", "email", "x1", "4f1c2d3e-0000-4000-8000-000000000000", "a@b.example"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)
MEDIA_TYPES = st.sampled_from(["", "text/csv", "application/x-unheard-of"])
PATHS = [
    "/orders",
    "/orders/{orderId}",
    "/orders/{id}",
    "/orders/{id}/items/{item}",
    "/orders/{order}/items/{id}",
]


@st.composite
def observations(draw: st.DrawFn) -> Observation:
    times = sorted(draw(st.lists(st.integers(1_700_000_000, 1_700_400_000), min_size=2, max_size=2)))
    first, last = (datetime.fromtimestamp(time, UTC) for time in times)
    path = draw(st.sampled_from(PATHS))
    shapes = draw(st.dictionaries(st.sampled_from(["query", "request", "response"]), VALUES))
    return Observation(
        method=draw(st.sampled_from(["GET", "POST"])),
        path=path,
        status=draw(st.sampled_from([200, 204, 301, 404, 500])),
        count=draw(st.integers(1, 1000)),
        first=first,
        last=last,
        parameters={"id": draw(st.sampled_from(["integer", "string", "number"]))} if "{id}" in path else {},
        undecided=draw(st.sampled_from([(), (0,)])),
        shapes={name: infer(value) for name, value in shapes.items()},
        request_media_type=draw(MEDIA_TYPES),
        response_media_type=draw(MEDIA_TYPES),
    )


def render_state(batches: list[list[Observation]]) -> str:
    """Return the summed state of these batches as text. Each batch goes through the JSON of the inbox first."""
    total = DailySums()
    for batch in batches:
        stored = json.loads(json.dumps(sum_observations(batch, received_at=NOW).to_state()))
        total.add_all(DailySums.from_state(stored))
    return render_sums(total)


def render_sums(total: DailySums) -> str:
    rows = [
        (
            day,
            identity,
            operation_sum.first,
            operation_sum.last,
            operation_sum.to_facts(),
            sorted(list_part_states(operation_sum)),
            list_projection(identity, operation_sum),
        )
        for day, sums in total
        for identity, operation_sum in sums
    ]
    return json.dumps(rows, default=str)


def list_part_states(operation_sum: Any) -> list[str]:
    return [json.dumps([*part, evidence.to_state()]) for part, evidence in operation_sum.evidence.items()]


def list_projection(identity: Any, operation_sum: Any) -> dict[str, Any]:
    return asdict(project(identity, operation_sum))


@settings(max_examples=60)
@given(st.lists(observations(), max_size=8), st.randoms(use_true_random=False), st.integers(1, 4))
def test_order_and_batching_change_no_byte(seen: list[Observation], chance: random.Random, size: int):
    one_by_one = render_state([[observation] for observation in seen])
    shuffled = chance.sample(seen, len(seen))
    batches = [shuffled[start : start + size] for start in range(0, len(shuffled), size)]
    assert render_state(batches) == one_by_one


FEW = st.lists(observations(), max_size=3)


@given(FEW, FEW, FEW)
@settings(max_examples=40)
def test_sums_are_associative_and_the_empty_sum_changes_nothing(
    some: list[Observation], more: list[Observation], rest: list[Observation]
):
    def store_and_add(*added: DailySums) -> DailySums:
        total = DailySums()
        for part in added:
            total.add_all(DailySums.from_state(json.loads(json.dumps(part.to_state()))))
        return total

    a, b, c = (sum_observations(seen, received_at=NOW) for seen in (some, more, rest))
    left, right = store_and_add(store_and_add(a, b), c), store_and_add(a, store_and_add(b, c), DailySums())
    assert render_sums(left) == render_sums(right)


NAMES_OF_AUDIO = ("aac", "ac3", "flac", "midi", "mp4", "mpeg", "ogg", "opus", "wav", "wave", "webm", "x-m4a", "x-wav")


@given(st.lists(st.sampled_from([f"audio/{name}" for name in NAMES_OF_AUDIO]), max_size=30), st.integers(1, 5))
def test_media_types_beyond_the_limit_become_a_range_in_any_order(media_types: list[str], size: int):
    seen = [Observation("GET", "/a", 200, 1, NOW, NOW, response_media_type=media_type) for media_type in media_types]
    batches = [seen[start : start + size] for start in range(0, len(seen), size)]
    assert render_state(batches) == render_state([seen[::-1]]) == render_state([[observation] for observation in seen])
