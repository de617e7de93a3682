"""The visible shape after baseline resets of whole operations and of nodes.

Evidence is stored by epoch: each reset begins a new one.

These tests compare the shape with a model that counts value by value.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.map_values import PRICE, bodies, infer_all

from affidavit import Evidence, describe, infer
from catalog.evidence.epoch_sums import EpochEvidence, NodeReset, build_visible_part, graft
from catalog.evidence.tree import walk_nodes
from catalog.shape_pointers import is_within
from tests.catalog.evidence.visible_parts import ITEM, NAMES, build_part, join_pointer, values

epochs = st.lists(st.lists(values, max_size=4), min_size=1, max_size=4)
steps = st.lists(st.sampled_from([*NAMES, ITEM]), max_size=3)
starts = st.lists(st.tuples(st.integers(1, 4), steps), max_size=4)


def sum_by_epoch(batches: list[list[Any]]) -> dict[int, Evidence]:
    return {epoch: infer_all(*batch) for epoch, batch in enumerate(batches)}


def list_counts(evidence: Evidence) -> dict[str, dict[str, int]]:
    """Return the counts of all nodes with observations, by pointer."""
    nodes = walk_nodes(evidence, observations=None)
    return {pointer: dict(node.evidence.counts) for pointer, node in nodes if node.evidence.counts}


def count_one_by_one(batches: list[list[Any]], node_starts: list[NodeReset]) -> dict[str, dict[str, int]]:
    """Return the counts by a simple model.

    A value counts at a node if it arrived after every reset of the node and after every reset of the nodes around it.
    """
    total: dict[str, dict[str, int]] = {}
    for epoch, batch in enumerate(batches):
        for value in batch:
            for pointer, counts in list_counts(infer(value)).items():
                if all(epoch >= start.epoch for start in node_starts if is_within(pointer, start.pointer)):
                    node_total = total.setdefault(pointer, {})
                    for kind, count in counts.items():
                        node_total[kind] = node_total.get(kind, 0) + count
    return total


@given(epochs, starts)
@settings(deadline=None)
def test_any_nested_resets_equal_counting_each_value_separately(batches, given_starts):
    node_starts = [NodeReset(epoch, join_pointer(path)) for epoch, path in given_starts]
    result = build_part(sum_by_epoch(batches), starts=node_starts, by_likeness=False)
    assert list_counts(result.evidence) == count_one_by_one(batches, node_starts)


@given(epochs, starts)
@settings(deadline=None)
def test_showing_evidence_does_not_change_it(batches, given_starts):
    by_epoch = sum_by_epoch(batches)
    before = json.dumps([evidence.to_state() for evidence in by_epoch.values()])
    build_part(
        by_epoch,
        starts=[NodeReset(epoch, join_pointer(path)) for epoch, path in given_starts],
        maps={"": True, "/a": True},
    )
    assert json.dumps([evidence.to_state() for evidence in by_epoch.values()]) == before
    assert build_part(by_epoch).evidence == infer_all(*[value for batch in batches for value in batch])


def test_a_node_without_observations_since_its_reset_is_shown_as_empty():
    descriptor = describe(graft(infer_all({"a": {"b": 1}, "c": [1]}), ["a"], Evidence()))
    assert descriptor["properties"]["a"] == {"type": "unknown", "reason": "empty", "seen": 0}
    items = describe(graft(infer_all({"c": [1, "x"]}), ["c", "[]"], Evidence()))["properties"]["c"]["items"]
    assert items == {"type": "unknown", "reason": "empty", "seen": 0}


def test_a_sensitive_name_stays_marked_after_a_reset():
    started = build_part({0: infer_all({"password": "x"})}, starts=[NodeReset(1, "/password")])
    assert describe(started.evidence)["properties"]["password"]["redacted"]


def test_a_property_named_like_a_pointer_step_is_a_node_of_its_own_and_can_be_reset():
    value = {"a": {"{}": 1, "17": "x"}, "b": [{"[]": 1}]}
    pointers = [pointer for pointer, _ in walk_nodes(infer(value), observations=None)]
    assert pointers == ["", "/a", "/a/~3}", "/a/{}", "/b", "/b/[]", "/b/[]/~2]"]
    started = build_part({0: infer(value)}, starts=[NodeReset(1, "/a/~3}"), NodeReset(1, "/b/[]/~2]")])
    seen_since = {pointer: node.evidence.seen for pointer, node in walk_nodes(started.evidence, observations=None)}
    assert (seen_since["/a/~3}"], seen_since["/a/{}"], seen_since["/b/[]/~2]"]) == (0, 1, 0)
    assert set(started.reset_counts) == {"/a/~3}", "/b/[]/~2]"}


def test_presence_since_a_reset_counts_only_later_evidence():
    by_epoch = {0: infer_all(*[{"a": 1, "b": 1}] * 8), 1: infer_all({"a": "x"}, {"b": 2}, {"b": 3}, None)}
    result = build_part(by_epoch, starts=[NodeReset(1, "/a")])
    assert (result.evidence.properties["a"].counts, result.reset_counts) == ({"string": 1}, {"/a": 3})
    assert build_part(by_epoch, starts=[NodeReset(1, "/a"), NodeReset(2, "")]).reset_counts == {"": None}


def sum_by_key(*kinds: Any) -> Evidence:
    """Return evidence of arrays of maps. Each value of a map is an object with the property `old`.

    kinds: the value of `old`, such as 1 or "x", one for each array.
    """
    total = Evidence()
    for kind in kinds:
        total.add(infer({"list": [{"m": body} for body in bodies({**PRICE, "old": kind})]}))
    return total


def describe_old(evidence: Evidence) -> str:
    (node,) = [node for pointer, node in walk_nodes(evidence, observations=None) if pointer == "/list/[]/m/{}/old"]
    return describe(node.evidence)["type"]


def test_a_reset_within_a_map_applies_to_every_key():
    by_epoch = {0: sum_by_key(1), 1: sum_by_key("x")}
    started = build_part(by_epoch, starts=[NodeReset(1, "/list/[]/m/{}/old")])
    assert build_part(by_epoch).maps == started.maps == {"/list/[]/m": 40}
    assert [describe_old(part.evidence) for part in (build_part(by_epoch), started)] == ["unknown", "string"]
    assert started.reset_counts["/list/[]/m/{}/old"] == 40
    as_properties = build_part(by_epoch, starts=[NodeReset(1, "/list/[]/m/{}/old")], maps={"/list/[]/m": False})
    assert as_properties.maps == {}
    assert as_properties.reset_counts["/list/[]/m/bal/old"] == 1


@given(st.lists(values, max_size=5), st.lists(values, max_size=5))
@settings(deadline=None)
def test_the_same_evidence_has_the_same_shape_however_it_is_split_into_epochs(some, others):
    in_two_epochs, in_one_epoch = (
        build_part({0: infer_all(*some), 1: infer_all(*others)}),
        build_part({0: infer_all(*others, *some)}),
    )
    assert json.dumps(describe(in_two_epochs.evidence)) == json.dumps(describe(in_one_epoch.evidence))


@pytest.mark.parametrize("pointer", ["/nothing", "/a/[]", "/a/{}", "/nothing/a"])
def test_a_reset_of_a_missing_node_changes_nothing(pointer):
    by_epoch = {0: infer_all({"a": 1})}
    assert build_part(by_epoch, starts=[NodeReset(1, pointer)]).evidence == by_epoch[0]


def test_merged_operations_are_counted_together_each_since_its_own_reset():
    ours = EpochEvidence({0: infer_all(*[{"a": 1}] * 8), 1: infer_all({"a": "x"}, {})}, [NodeReset(1, "/a")])
    theirs = EpochEvidence({0: infer_all({"a": "y"}, {"b": 1}, {"b": 1})})
    result = build_visible_part([ours, theirs])
    assert (result.evidence.properties["a"].counts, result.reset_counts) == ({"string": 2}, {"/a": 5})
    assert result.evidence.counts == {"object": 13}
