"""Descriptors of evidence: their form and limits. They are read back without loss."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit._shapes.descriptor_to_evidence import from_descriptor
from affidavit._shapes.evidence import Evidence, merge
from affidavit._shapes.evidence_to_descriptor import describe, fit
from affidavit._shapes.values_to_evidence import infer

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "secret", "17", "", "a/b~c"]), inner, max_size=5)
    ),
    max_leaves=25,
)
evidences = st.lists(json_values, max_size=4).map(lambda values: infer(values).items or Evidence())
types = st.sampled_from(["string", "number", "integer", "boolean", "null"]).map(lambda name: {"type": name})
reasons = st.sampled_from([{}, {"reason": "empty"}, {"reason": "divergent"}, {"reason": "limit"}])
marks = st.sampled_from([{}, {"nullable": True}, {"redacted": True}])


def containers(inner):
    names = st.dictionaries(st.sampled_from(["a", "b", "17"]), inner, max_size=3)
    return (
        st.tuples(reasons.filter(lambda reason: reason.get("reason") != "empty"), names).map(
            lambda pair: {"type": "unknown", **pair[0], "properties": pair[1]}
        )
        | inner.map(lambda items: {"type": "array", "items": items})
        | names.map(lambda properties: {"type": "object", "properties": properties})
        | inner.map(lambda child: {"type": "unknown", "reason": "divergent", "items": child, "values": child})
    )


unmarked = st.recursive(types | reasons.map(lambda reason: {"type": "unknown"} | reason), containers, max_leaves=12)
foreign_descriptors = st.builds(lambda descriptor, mark: descriptor | mark, unmarked, marks)


def shape(*values, **options):
    return describe(infer(list(values)).items or Evidence(), counts=False, **options)


EMPTY = {"type": "unknown", "reason": "empty"}
PROJECTIONS = [
    ([], EMPTY),
    ([None], {"type": "null"}),
    ([1, None], {"type": "integer", "nullable": True}),
    ([1, 1.5], {"type": "number"}),
    ([True, 1], {"type": "unknown", "reason": "divergent"}),
    ([[]], {"type": "array", "items": EMPTY}),
    ([[], ["x"]], {"type": "array", "items": {"type": "string"}}),
    ([{}], {**EMPTY, "of": "object"}),
    ([{}, {"a": 1}], {"type": "object", "properties": {"a": {"type": "integer"}}}),
    ([{"17": 1}], {"type": "object", "values": {"type": "integer"}}),
    ([[], {}], {"type": "unknown", "reason": "divergent", "items": EMPTY}),
    (["x", []], {"type": "unknown", "reason": "divergent"}),
    ([None, {"a": 1}, "x"], {"type": "unknown", "reason": "divergent", "nullable": True,
                             "properties": {"a": {"type": "integer"}}}),
    ([{"password": None}], {"type": "object", "properties": {"password": {"type": "null", "redacted": True}}}),
]  # fmt: skip


@pytest.mark.parametrize(("values", "expected"), PROJECTIONS, ids=lambda part: json.dumps(part)[:40])
def test_values_are_described_as_contract_4_says(values, expected):
    descriptor = shape(*values)
    if values == [[], {}]:
        descriptor.setdefault("items", EMPTY)  # arrays that were always empty have no items to describe
    assert descriptor == expected


@given(evidences)
def test_the_wire_form_is_lossless(evidence):
    wire = json.loads(json.dumps(describe(evidence, max_nodes=None)))
    assert from_descriptor(wire, seen=0) == evidence


@given(foreign_descriptors, st.integers(1, 3))
@settings(max_examples=200)
def test_a_foreign_descriptor_without_counts_loses_nothing(descriptor, seen):
    evidence = from_descriptor(descriptor, seen=seen)
    wire = describe(evidence, max_nodes=None)
    assert from_descriptor(wire, seen=0) == evidence
    assert wire["type"] == descriptor["type"] or wire["reason"] == "empty"


@given(foreign_descriptors, foreign_descriptors, evidences)
@settings(max_examples=100)
def test_foreign_descriptors_merge_like_observations_and_stay_lossless(descriptor, other_descriptor, evidence):
    first, second = from_descriptor(descriptor, seen=1), from_descriptor(other_descriptor, seen=2)
    total = merge(merge(first, evidence), second)
    assert json.dumps(describe(total)) == json.dumps(describe(merge(second, merge(evidence, first))))
    assert from_descriptor(describe(total, max_nodes=None), seen=0) == total


@given(st.lists(foreign_descriptors, min_size=1, max_size=3), evidences, st.integers(1, 12))
@settings(max_examples=100)
def test_every_description_can_be_read_back_even_if_a_limit_cut_it(descriptors, evidence, max_nodes):
    for descriptor in descriptors:
        evidence = merge(evidence, from_descriptor(descriptor, seen=2))
    described = describe(evidence, max_nodes=max_nodes)
    assert from_descriptor(described, seen=0).seen == evidence.seen


@given(evidences, st.integers(2, 5))
def test_a_description_without_counts_stays_the_same_when_the_same_is_added_again(evidence, times):
    total = Evidence()
    for _ in range(times):
        total.add(evidence)
    assert json.dumps(describe(total, counts=False)) == json.dumps(describe(evidence, counts=False))


@given(evidences, st.integers(1, 30))
def test_a_projection_has_at_most_max_nodes_and_marks_what_was_cut(evidence, max_nodes):
    limited, whole = describe(evidence, max_nodes=max_nodes), describe(evidence, max_nodes=None)
    assert count_nodes(limited) <= max_nodes
    assert limited["seen"] == whole["seen"]
    assert limited == whole or '"limit"' in json.dumps(limited)
    assert count_nodes(whole) > max_nodes or limited == whole


def count_nodes(descriptor) -> int:
    children = [descriptor[name] for name in ("items", "values") if name in descriptor]
    return 1 + sum(map(count_nodes, [*children, *descriptor.get("properties", {}).values()]))


@given(evidences, st.integers(80, 2000))
def test_fitted_evidence_is_within_max_bytes_and_keeps_its_count(evidence, max_bytes):
    fitted_evidence = fit(evidence, max_bytes)
    assert fitted_evidence.seen == evidence.seen
    size = len(json.dumps(describe(fitted_evidence, max_nodes=None), separators=(",", ":")))
    assert size <= max_bytes or not list(fitted_evidence.children())


def test_counts_show_how_often_a_property_is_present_and_with_which_types():
    descriptor = describe(infer([{"a": 1}, {"a": "x"}, {}, None]).items)
    assert (descriptor["seen"], descriptor["nulls"], "types" in descriptor) == (4, 1, False)
    assert descriptor["properties"]["a"]["seen"] == 2
    assert descriptor["properties"]["a"]["types"] == {"string": 1, "integer": 1}
