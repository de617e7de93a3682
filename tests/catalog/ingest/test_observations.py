"""The sum of a batch: no segment that looks raw, no name that is data, and the days of each node (contract §4)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from affidavit import infer
from catalog.ingest.observations import Observation, sum_observations

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
DAY = int(NOW.timestamp()) // 86400


def sum_one(observation: Observation) -> tuple[Any, Any]:
    ((_, sums),) = sum_observations([observation], received_at=NOW)
    ((identity, total),) = sums
    return identity, total


@pytest.mark.parametrize(
    "raw",
    [
        "1774",
        "9f86d081884c",
        "4f1c2d3e-9a53-4b7e-8f5a-0f4f0c6f6b11",
        "jane@example.com",
        "aB3dE5gH7jK9mN1pQ3sT5vW7x",
    ],
)
def test_a_raw_looking_segment_is_a_parameter_before_anything_is_stored(raw):
    sums = sum_observations([Observation("GET", f"/orders/{raw}", 200, 1)], received_at=NOW)
    assert raw not in json.dumps(sums.to_state())
    ((_, of_the_day),) = sums
    ((identity, _),) = of_the_day
    assert identity.key == "/orders/{}"


def test_names_that_are_data_are_dropped_before_anything_is_stored():
    shape = infer({"4f1c2d3e-9a53-4b7e-8f5a-0f4f0c6f6b11": 1, "jane@example.com": 2, "name": "x"})
    stored = json.dumps(
        sum_observations([Observation("GET", "/a", 200, 1, shapes={"response": shape})], received_at=NOW).to_state()
    )
    assert "4f1c2d3e" not in stored
    assert "jane" not in stored
    assert '"name"' in stored


@pytest.mark.parametrize("status", [200, 204, 301, 399])
def test_query_and_request_shapes_come_from_2xx_and_3xx(status):
    _, total = sum_one(
        Observation("POST", "/a", status, 1, shapes=dict.fromkeys(("query", "request", "response"), infer({})))
    )
    assert {part.name for part in total.evidence} == {"query", "request", "response"}


@pytest.mark.parametrize("status", [100, 400, 404, 422, 500])
def test_other_statuses_keep_only_the_response_shape(status):
    _, total = sum_one(
        Observation("POST", "/a", status, 1, shapes=dict.fromkeys(("query", "request", "response"), infer({})))
    )
    assert list(total.evidence) == [("response", status)]


def test_missing_times_are_the_time_of_receipt_and_a_single_time_is_used_for_both():
    earlier = NOW - timedelta(hours=3)
    assert (
        sum_one(Observation("GET", "/a", 200, 1))[1].first,
        sum_one(Observation("GET", "/a", 200, 1))[1].last,
    ) == (int(NOW.timestamp()),) * 2
    for times in ({"first": earlier}, {"last": earlier}):
        total = sum_one(Observation("GET", "/a", 200, 1, **times))[1]
        assert total.first == total.last == int(earlier.timestamp())


def test_every_node_is_stamped_with_the_days_on_which_it_was_seen():
    shape = infer({"items": [{"sku": "x"}]})
    times = {"first": NOW - timedelta(days=2), "last": NOW}
    _, total = sum_one(Observation("GET", "/a", 200, 1, **times, shapes={"response": shape}))
    root = total.evidence["response", 200]
    sku = root.properties["items"].items.properties["sku"]
    assert (sku.first, sku.last) == (root.first, root.last) == (DAY - 2, DAY)


def test_an_undecided_segment_that_became_a_parameter_is_decided():
    _, total = sum_one(Observation("GET", "/shops/17/red", 200, 3, undecided=(1, 2)))
    assert total.undecided == {2: 3}


def test_templates_that_differ_only_in_names_are_one_sum():
    seen = [Observation("GET", path, 200, 2, NOW, NOW) for path in ("/orders/{a}", "/orders/{b}")]
    ((_, sums),) = sum_observations(seen, received_at=NOW)
    ((identity, operation_sum),) = sums
    assert identity == ("GET", "/orders/{}")
    assert operation_sum.observations == 4
    assert operation_sum.names == [{"a": 2, "b": 2}]
