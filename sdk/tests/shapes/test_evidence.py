"""Evidence is a sum: any order and any batching gives the same result, even when names are dropped."""

import functools
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit._shapes.descriptor_to_evidence import from_descriptor
from affidavit._shapes.evidence import KINDS, MAX_NAMES, Evidence, merge
from affidavit._shapes.evidence_to_descriptor import describe
from affidavit._shapes.values_to_evidence import infer

NAMES = ["id", "name", "password", "nested", "17", "anna@example.com", "", "__proto__", "a/b~c"]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=15,
)
days = st.none() | st.integers(20_000, 20_400)
evidences_of_values = st.builds(lambda value, day: infer(value, day=day), json_values, days)


@st.composite
def wide_objects(draw):
    """Draw the evidence of an object with up to 220 names. Two such objects may have more than 200 together."""
    start, size = draw(st.integers(0, 300)), draw(st.integers(1, 220))
    inside = draw(st.sampled_from([1, "text", None, {"x": 1}, {f"inner{letters(start + i)}": 0 for i in range(8)}]))
    return infer({f"name{letters(i)}": inside for i in range(start, start + size)})


def letters(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


evidences = evidences_of_values | wide_objects()


def in_bytes(evidence: Evidence) -> str:
    return json.dumps([evidence.to_state(), describe(evidence), describe(evidence, max_nodes=None)])


@given(evidences, evidences, evidences)
@settings(max_examples=40, deadline=None)
def test_merging_is_associative_and_commutative(a, b, c):
    assert in_bytes(merge(merge(a, b), c)) == in_bytes(merge(a, merge(b, c)))
    assert in_bytes(merge(a, b)) == in_bytes(merge(b, a))


@given(evidences)
@settings(max_examples=40, deadline=None)
def test_merging_with_empty_evidence_changes_nothing(evidence):
    assert merge(evidence, Evidence()) == merge(Evidence(), evidence) == evidence
    assert in_bytes(merge(Evidence(), evidence)) == in_bytes(evidence)


@given(st.lists(evidences, max_size=6), st.integers(0, 5), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_any_order_and_batching_gives_the_same_bytes(parts, cut, chance):
    shuffled = parts[:]
    chance.shuffle(shuffled)
    batches = [functools.reduce(merge, batch, Evidence()) for batch in (shuffled[:cut], shuffled[cut:])]
    assert in_bytes(functools.reduce(merge, parts, Evidence())) == in_bytes(merge(*batches))


@given(evidences, evidences)
@settings(max_examples=40, deadline=None)
def test_adding_neither_changes_nor_shares_the_added_evidence(a, b):
    before = in_bytes(b)
    total = merge(a, b)
    total.add(total.copy())
    assert in_bytes(b) == before


@given(st.lists(st.tuples(st.sampled_from([*NAMES, "x", "y"]), evidences), max_size=6))
@settings(max_examples=40, deadline=None)
def test_what_is_taken_is_the_same_as_what_is_added(parts):
    """`take_property` keeps the given evidence itself; `add` copies it."""
    added, taken = Evidence(), Evidence()
    for name, part in parts:
        added.open_property(name).add(part)
        taken.take_property(name, part.copy())
    assert taken == added


def test_taking_one_name_more_than_the_limit_forgets_all_names():
    evidence = Evidence()
    for number in range(MAX_NAMES + 1):
        evidence.take_property(f"name{letters(number)}", infer(number))
    assert (evidence.collapsed, evidence.properties, evidence.values.seen) == (True, {}, MAX_NAMES + 1)


@pytest.mark.parametrize("inner", ["properties", "items", "values"])
def test_reading_a_deep_descriptor_copies_nothing(monkeypatch, inner):
    """If each level were copied into the next, the work would be multiplied by the depth."""
    copied = list[Evidence]()
    monkeypatch.setattr(Evidence, "add", lambda self, other: copied.append(other))
    descriptor = {"type": "string"}
    for _ in range(25):
        child = {"a": descriptor} if inner == "properties" else descriptor
        descriptor = {"type": "array" if inner == "items" else "object", inner: child}
    assert from_descriptor(descriptor, seen=1).seen == 1
    assert copied == []


@given(evidences)
@settings(max_examples=40, deadline=None)
def test_what_was_seen_is_the_sum_of_the_counts(evidence):
    assert evidence.seen == sum(evidence.counts.values())
    evidence.counts = {}
    assert (evidence.seen, evidence.counts) == (0, {})


@given(evidences)
@settings(max_examples=40, deadline=None)
def test_evidence_is_blank_if_and_only_if_it_stores_nothing(evidence):
    for part in (evidence, *evidence.children(), Evidence()):
        assert part.is_blank == (not part.to_state())


@given(evidences)
@settings(max_examples=40, deadline=None)
def test_the_stored_form_is_lossless_json(evidence):
    assert Evidence.from_state(json.loads(json.dumps(evidence.to_state()))) == evidence


@given(evidences, st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_cutting_keeps_all_counts_of_the_remaining_levels(evidence, levels):
    cut = evidence.cut(levels)
    assert cut.seen == evidence.seen
    assert depth(cut) <= levels
    assert depth(evidence) > levels or cut == evidence


def test_closed_evidence_keeps_the_count_of_null_its_marks_and_its_days():
    """Closed evidence has lost its children; every other kind is counted as `limit`."""
    values = [infer({"a": 1}, day=9), infer(None, day=7), infer(None, day=7), infer([1], day=8)]
    evidence = functools.reduce(merge, values)
    evidence.redacted = evidence.binary = True
    assert evidence.close().to_state() == {
        "counts": {"limit": 2, "null": 2}, "redacted": True, "binary": True, "days": [7, 9],
    }  # fmt: skip
    assert infer([1]).close().to_state() == {"counts": {"limit": 1}}


def test_cutting_counts_the_levels_of_items_of_properties_and_of_values():
    evidence = infer({"a": [{"b": 1}], "17": [{"c": 1}]})
    limit = {"counts": {"limit": 1}}
    array = {"counts": {"array": 1}, "items": limit}
    assert evidence.cut(3).to_state() == {"counts": {"object": 1}, "values": array, "properties": {"a": array}}
    assert evidence.cut(2).to_state() == {"counts": {"object": 1}, "values": limit, "properties": {"a": limit}}
    assert evidence.cut(4) == evidence


@pytest.mark.parametrize("mark", ["redacted", "binary"])
def test_a_merged_evidence_has_the_marks_of_both(mark):
    marked = infer("x")
    setattr(marked, mark, True)
    assert getattr(merge(marked, infer("x")), mark) is getattr(merge(infer("x"), marked), mark) is True
    assert getattr(merge(infer("x"), infer("x")), mark) is False


def test_evidence_equals_only_evidence_with_the_same_state():
    assert infer({"a": 1}) == infer({"a": 1})
    assert infer({"a": 1}) != infer({"a": "1"})
    assert infer({"a": 1}) != {"a": 1}


def test_the_first_and_last_day_do_not_depend_on_the_order():
    evidence = infer({"a": 1})
    for day in (8, 7, 9, 8):
        evidence.stamp(day)
    assert (evidence.first, evidence.last) == (7, 9)
    assert (evidence.properties["a"].first, evidence.properties["a"].last) == (7, 9)


@pytest.mark.parametrize("mark", ["redacted", "collapsed", "binary"])
def test_each_mark_is_stored_separately(mark):
    evidence = Evidence()
    setattr(evidence, mark, True)
    assert evidence.to_state() == {mark: True}
    restored = Evidence.from_state({mark: True})
    assert [getattr(restored, name) for name in ("redacted", "collapsed", "binary")].count(True) == 1
    assert getattr(restored, mark) is True
    assert restored.seen == 0


def depth(evidence: Evidence) -> int:
    return 1 + max(map(depth, evidence.children()), default=0)


@pytest.mark.parametrize(("names", "collapses"), [(MAX_NAMES, False), (MAX_NAMES + 1, True)])
def test_more_than_200_names_are_a_map_in_whatever_batches_they_come(names, collapses):
    singles = [infer({f"name{letters(i)}": i}) for i in range(names)]
    random.Random(7).shuffle(singles)
    at_once = infer({f"name{letters(i)}": i for i in range(names)})
    assert at_once.collapsed is collapses
    assert len(at_once.properties) == (0 if collapses else names)
    total = functools.reduce(merge, singles)
    assert total.values == (at_once.values if collapses else None)
    assert total.properties == at_once.properties
    if collapses:
        assert total.values is not None
        assert total.values.counts == {"integer": names}


def test_later_names_of_a_collapsed_object_are_forgotten_too():
    wide = infer({f"name{letters(i)}": 1 for i in range(MAX_NAMES + 1)})
    assert merge(wide, infer({"late": "x"})) == merge(infer({"late": "x"}), wide)
    assert merge(wide, infer({"late": "x"})).properties == {}


def test_names_that_are_data_do_not_count_towards_the_200():
    value = {f"name{letters(i)}": 1 for i in range(MAX_NAMES)} | {str(i): "x" for i in range(MAX_NAMES)}
    evidence = infer(value)
    assert (len(evidence.properties), evidence.collapsed) == (MAX_NAMES, False)
    assert evidence.values is not None
    assert evidence.values.counts == {"string": MAX_NAMES}


def test_a_sensitive_name_stays_marked_when_names_are_forgotten():
    wide = {f"name{letters(i)}": 1 for i in range(MAX_NAMES + 1)}
    for value in ({"password": "x", **wide}, {**wide, "password": "x"}):
        values = infer(value).values
        assert values is not None
        assert values.redacted


def test_first_and_last_day_are_kept_per_node():
    total = merge(infer({"a": 1}, day=20_005), infer({"a": 1, "b": 1}, day=20_001))
    assert (total.first, total.last) == (20_001, 20_005)
    assert (total.properties["b"].first, total.properties["b"].last) == (20_001, 20_001)


def test_every_kind_that_is_counted_is_known():
    assert set(infer([None, True, 1, 1.0, "", [], {}]).items.counts) < set(KINDS)
