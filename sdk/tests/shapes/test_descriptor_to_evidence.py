"""Evidence that is read from a descriptor, and every fault for which a descriptor is refused."""

import json

import pytest

from affidavit._shapes.descriptor_to_evidence import InvalidDescriptor, from_descriptor
from affidavit._shapes.evidence import MAX_DEPTH, merge
from affidavit._shapes.evidence_to_descriptor import describe
from affidavit._shapes.values_to_evidence import infer


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
