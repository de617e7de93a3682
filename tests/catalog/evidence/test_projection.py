"""The projection of a sum: when an operation begins, its JSON, its outline and its counts (contract §4 and §5)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from affidavit import infer
from catalog.evidence.projection import project
from catalog.ingest.observations import Observation, sum_observations

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def project_sum(*observations: Observation) -> Any:
    ((_, sums),) = sum_observations(observations, received_at=NOW)
    ((identity, operation_sum),) = sums
    return project(identity, operation_sum)


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_scanner_creates_no_operation(status):
    assert not project_sum(Observation("GET", "/wp-admin", status, 9)).begun
    assert project_sum(Observation("GET", "/wp-admin", status, 9), Observation("GET", "/wp-admin", 403, 1)).begun


def test_a_status_without_a_body_is_shown_as_empty():
    document = json.loads(project_sum(Observation("DELETE", "/a", 204, 2)).document)
    assert document["responses"] == {"204": {"type": "unknown", "reason": "empty", "seen": 0}}
    assert document["query"] is document["request"] is None
    assert document["observations"] == 2


def test_the_outline_does_not_depend_on_the_number_of_observations():
    once, often = (
        project_sum(Observation("GET", "/a/{id}", 200, count, shapes={"response": infer({"x": [1, None]})}))
        for count in (1, 1000)
    )
    assert once.outline_digest == often.outline_digest
    assert once.document_digest != often.document_digest
    assert not {"observations", "firstSeenAt", "lastSeenAt", "seen"} & set(json.loads(once.outline))


def test_properties_are_counted_at_every_depth_and_found_by_name_and_type():
    shape = infer({"Items": [{"sku": "x", "price": 1}], "total": 2})
    projection = project_sum(Observation("GET", "/a", 200, 1, shapes={"response": shape}))
    assert projection.properties == 4
    assert projection.search.split("\n") == ["/a", "Items:array", "price:integer", "sku:string", "total:integer"]


def test_nodes_of_unknown_type_are_counted():
    shape = infer({"a": [], "b": [1, "x"], "c": {}, "d": 1})
    assert project_sum(Observation("GET", "/a", 200, 1, shapes={"response": shape})).unknowns == 3
    assert project_sum(Observation("GET", "/a", 204, 1)).unknowns == 0
