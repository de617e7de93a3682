"""Descriptors of evidence: their form and limits; they are read back without loss."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit._shapes.descriptor_to_evidence import InvalidDescriptor, from_descriptor
from affidavit._shapes.evidence import MAX_DEPTH, Evidence, merge
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


def test_a_nested_descriptor_beyond_32_levels_is_cut_not_refused():
    descriptor = {"type": "string"}
    for _ in range(60):
        descriptor = {"type": "array", "items": descriptor}
    evidence = from_descriptor(descriptor, seen=1)
    for _ in range(MAX_DEPTH):
        evidence = evidence.items
    assert (evidence.counts, evidence.items) == ({"limit": 1}, None)


def test_names_that_are_data_are_forgotten_when_a_descriptor_is_read_too():
    """They are also forgotten when a value is read."""
    properties = {"17": {"type": "string"}, "anna@example.com": {"type": "null"}, "a": {"type": "string"}}
    evidence = from_descriptor({"type": "object", "properties": properties}, seen=1)
    assert list(evidence.properties) == ["a"]
    assert evidence.values.counts == {"string": 1, "null": 1}


def test_a_node_of_unknown_type_may_have_children():
    for descriptor in (
        {"type": "unknown", "reason": "divergent", "items": {"type": "string"}, "properties": {}},
        {"type": "unknown", "properties": {"a": {"type": "string"}}},
        {"type": "unknown", "of": "object", "properties": {"a": {"type": "string"}}},
        {"type": "unknown", "seen": 2, "types": {"string": 1, "array": 1}, "items": {"type": "null"}},
    ):
        evidence = from_descriptor(descriptor, seen=2)
        assert from_descriptor(describe(evidence, max_nodes=None), seen=0) == evidence
    assert describe(from_descriptor({"type": "unknown", "values": {"type": "null"}}, seen=2))["reason"] == "divergent"


def test_a_type_without_counts_merges_with_counted_nulls():
    descriptor = {"type": "unknown", "reason": "divergent", "items": {"type": "string"}}
    counted_nulls = infer([None, None])
    total = merge(from_descriptor(descriptor, seen=1), counted_nulls)
    assert describe(total.items)["types"] == {"string": 0}
    assert from_descriptor(describe(total), seen=0) == total


def test_every_node_gets_the_day():
    evidence = from_descriptor({"type": "array", "items": {"type": "string"}}, seen=1, day=20_000)
    assert (evidence.first, evidence.items.last) == (20_000, 20_000)


def test_a_count_of_3_point_0_is_read_as_3():
    with_floats = {"type": "string", "seen": 3.0, "nulls": 1.0, "types": {"string": 2.0}}
    with_integers = {"type": "string", "seen": 3, "nulls": 1, "types": {"string": 2}}
    texts = [json.dumps(describe(from_descriptor(form, seen=9))) for form in (with_floats, with_integers)]
    assert texts[0] == texts[1]


def prop(**child):
    return {"type": "object", "seen": 2, "properties": {"a/b~": child}}


FAULTS = [
    (None, [("", "wrong-type")]),
    ([], [("", "wrong-type")]),
    ({}, [("/type", "required")]),
    ({"type": "text"}, [("/type", "unknown-type")]),
    ({"type": []}, [("/type", "unknown-type")]),
    ({"type": "unknown", "reason": "bored"}, [("/reason", "unknown-reason")]),
    ({"type": "unknown", "of": "array"}, [("/of", "wrong-type")]),
    ({"type": "array"}, [("/items", "required")]),
    ({"type": "object"}, [("/properties", "required")]),
    ({"type": "object", "properties": []}, [("/properties", "wrong-type")]),
    ({"type": "string", "seen": -1}, [("/seen", "invalid-count")]),
    ({"type": "string", "seen": 2**53 + 1}, [("/seen", "invalid-count")]),
    ({"type": "string", "seen": True}, [("/seen", "invalid-count")]),
    ({"type": "string", "seen": 1.5, "nulls": "1"}, [("/seen", "invalid-count"), ("/nulls", "invalid-count")]),
    ({"type": "string", "redacted": 1, "nullable": "no"}, [("/nullable", "wrong-type"), ("/redacted", "wrong-type")]),
    ({"type": "string", "seen": 1, "nulls": 2}, [("/nulls", "contradictory-counts")]),
    ({"type": "null", "seen": 3, "nulls": 2}, [("/nulls", "contradictory-counts")]),
    ({"type": "unknown", "types": []}, [("/types", "wrong-type")]),
    ({"type": "unknown", "types": {"a/b": 1}}, [("/types/a~1b", "unknown-type")]),
    ({"type": "unknown", "types": {"string": -1}}, [("/types/string", "invalid-count")]),
    ({"type": "unknown", "seen": 5, "types": {"text": 3, "string": 2}}, [("/types/text", "unknown-type")]),
    ({"type": "string", "seen": 5, "types": {"string": 3, "null": 2}}, [("/types/null", "unknown-type")]),
    ({"type": "string", "seen": 5, "types": {"string": "4", "empty": 1}}, [("/types/string", "invalid-count")]),
    ({"type": "text", "seen": 5, "nulls": 9, "types": {"string": 1}}, [("/type", "unknown-type")]),
    ({**prop(type="string", seen=3), "seen": -2}, [("/seen", "invalid-count")]),
    ({**prop(type="string", seen=3), "type": "record"}, [("/type", "unknown-type")]),
    ({"type": "unknown", "seen": 5, "types": {"string": 1, "boolean": 1}}, [("/types", "contradictory-counts")]),
    ({"type": "string", "seen": 2, "types": {"string": 1, "boolean": 1}}, [("/types", "contradictory-counts")]),
    (prop(type="string", seen=3), [("/properties/a~1b~0/seen", "contradictory-counts")]),
    (prop(type="wrong", seen=1), [("/properties/a~1b~0/type", "unknown-type")]),
    ({"type": "string", "properties": {"a": {"type": "string"}}}, [("/properties", "contradictory-type")]),
    ({"type": "string", "items": {"type": "string", "seen": 0}}, [("/items", "contradictory-type")]),
    ({"type": "null", "values": {"type": "string", "seen": 0}}, [("/values", "contradictory-type")]),
    ({"type": "array", "items": {"type": "string"}, "properties": {}}, [("/properties", "contradictory-type")]),
    ({"type": "object", "properties": {}, "items": {"type": "null"}}, [("/items", "contradictory-type")]),
    ({"type": "unknown", "reason": "empty", "properties": {}}, [("/properties", "contradictory-type")]),
    ({"type": "unknown", "types": {"string": 1, "array": 0}, "seen": 1, "values": {"type": "null", "seen": 0}},
     [("/values", "contradictory-type")]),
    ({"type": "unknown", "reason": "divergent", "seen": 3, "types": {"string": 3}},
     [("/types", "contradictory-counts")]),
    ({"type": "unknown", "reason": "divergent", "types": {"integer": 2, "number": 1}},
     [("/types", "contradictory-counts")]),
    ({"type": "unknown", "reason": "limit", "types": {"string": 1, "array": 1}}, [("/types", "contradictory-counts")]),
    ({"type": "unknown", "types": {"string": 3}}, [("/types", "contradictory-counts")]),
    ({"type": "string", "seen": 3, "nulls": 3}, [("/nulls", "contradictory-counts")]),
    ({"type": "string", "nulls": 1}, [("/nulls", "contradictory-counts")]),
    ({"type": "unknown", "reason": "divergent", "seen": 3, "nulls": 3}, [("/nulls", "contradictory-counts")]),
    ({"type": "array", "items": {"type": "array", "items": 1}}, [("/items/items", "wrong-type")]),
]  # fmt: skip


@pytest.mark.parametrize(("descriptor", "faults"), FAULTS, ids=lambda part: json.dumps(part)[:50])
def test_every_fault_is_reported_with_its_pointer(descriptor, faults):
    with pytest.raises(InvalidDescriptor) as refusal:
        from_descriptor(descriptor, seen=1)
    assert [(fault.pointer, fault.code) for fault in refusal.value.faults] == faults


def test_an_unknown_type_at_the_deepest_level_is_the_only_fault():
    descriptor = {"type": "text"}
    for _ in range(MAX_DEPTH):
        descriptor = {"type": "object", "properties": {"a": descriptor}}
    with pytest.raises(InvalidDescriptor) as refusal:
        from_descriptor(descriptor, seen=1)
    assert [(fault.pointer, fault.code) for fault in refusal.value.faults] == [
        ("/properties/a" * MAX_DEPTH + "/type", "unknown-type")
    ]


def test_all_faults_are_reported_at_once():
    descriptor = {"type": "object", "properties": {"a": {"type": "x"}, "b": {"seen": -1}, "c": 3}, "values": []}
    with pytest.raises(InvalidDescriptor) as refusal:
        from_descriptor(descriptor, seen=1)
    pointers = [fault.pointer for fault in refusal.value.faults]
    assert pointers == ["/values", "/properties/a/type", "/properties/b/type", "/properties/b/seen", "/properties/c"]


def test_unknown_members_are_ignored():
    assert from_descriptor({"type": "string", "format": "date"}, seen=1) == infer("x")
