"""Inference gives the types of contract §4 in one pass, and the same result if redaction comes first."""

import dataclasses
import enum
import re
from collections import OrderedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit._shapes.evidence import MAX_DEPTH, MAX_NAMES, Evidence, merge
from affidavit._shapes.redaction import DEFAULT, Redactor
from affidavit._shapes.values_to_evidence import infer, observe

NAMES = ["id", "name", "cardNumber", "card", "internal_note", "x-secret-y", "17", "anna@example.com"]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=20,
)


@st.composite
def records(draw):
    """Draw objects like those of an array: all have the same names, but sometimes the last one has others."""
    names = draw(st.lists(st.sampled_from(NAMES), max_size=4, unique=True))
    odd = draw(st.sampled_from([[], [], names[:1], NAMES]))
    alike = st.fixed_dictionaries(dict.fromkeys(names, json_values))
    values = draw(st.lists(alike, min_size=2, max_size=5))
    return [*values, *([draw(st.fixed_dictionaries(dict.fromkeys(odd, json_values)))] if odd else [])]


redactors = st.builds(
    Redactor,
    erase=st.booleans(),
    sensitive=st.lists(st.sampled_from(["internal note", re.compile("^x-"), lambda name: name == "id"]), max_size=3),
    drop=st.lists(st.sampled_from(NAMES), max_size=2),
)
SCALARS = [(None, "null"), (True, "boolean"), (0, "integer"), (2**60, "integer"), (1.0, "number"), ("", "string")]


@pytest.mark.parametrize(("value", "kind"), [*SCALARS, ([], "array"), ({}, "object")])
def test_each_value_counts_as_its_own_kind(value, kind):
    assert infer(value).counts == {kind: 1}


@given(json_values, redactors)
@settings(max_examples=150, deadline=None)
def test_one_pass_equals_redacting_first(value, redactor):
    assert infer(value, redactor=redactor) == infer(redactor.redact(value), redactor=redactor)


@given(json_values)
def test_shapes_are_the_same_with_erasure_on_or_off(value):
    assert infer(value) == infer(value, redactor=Redactor(erase=False)) == infer(DEFAULT.redact(value))


@given(json_values, json_values)
def test_observing_in_place_equals_merging(first, second):
    evidence = infer(first)
    observe(evidence, second)
    assert evidence == merge(infer(first), infer(second))


@given(st.lists(json_values, max_size=4))
def test_items_of_one_array_merge_like_observations(values):
    total = Evidence()
    for value in values:
        observe(total, value)
    assert (infer(values).items or Evidence()) == total


@given(records(), redactors)
@settings(max_examples=100, deadline=None)
def test_counting_objects_name_by_name_equals_counting_them_one_by_one(objects, redactor):
    total = Evidence()
    for members in objects:
        observe(total, members, redactor=redactor)
    assert infer(objects, redactor=redactor).items == total
    assert infer(objects, redactor=redactor) == infer(redactor.redact(objects), redactor=redactor)


@pytest.mark.parametrize(("names", "collapses"), [(MAX_NAMES, False), (MAX_NAMES + 1, True)])
def test_objects_of_an_array_that_have_too_many_names_are_maps(names, collapses):
    wide = {f"name{chr(0x4E00 + number)}": number for number in range(names)}
    items = infer([wide, wide]).items
    assert items == merge(infer(wide), infer(wide))
    assert (items.collapsed, len(items.properties)) == (collapses, 0 if collapses else names)


def test_what_replaces_a_whole_value_is_inspected_in_its_place():
    redactor = Redactor(replace=lambda value: {"replaced": value["secret"]})
    assert infer({"secret": 1}, redactor=redactor) == infer({"replaced": 1})
    assert redactor.redact({"secret": 1}) == {"replaced": 0}
    assert infer({"a": 1}, redactor=dataclasses.replace(redactor, replace=None)) == infer({"a": 1})


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}], ids=["array", "object"])
def test_levels_below_the_32nd_are_cut_and_marked(wrap):
    def nested(levels, leaf):
        for _ in range(levels - 1):
            leaf = wrap(leaf)
        return leaf

    def innermost(evidence):
        return next((innermost(child) for child in evidence.children()), evidence)

    assert innermost(infer(nested(MAX_DEPTH, "x"))).counts == {"string": 1}
    for leaf in ("x", None, [1], {"a": 1}):
        assert innermost(infer(nested(MAX_DEPTH + 1, leaf))).counts == {"limit": 1}
    several = nested(MAX_DEPTH - 1, [{"a": leaf} for leaf in ("x", None, [1], {"a": 1})])
    assert innermost(infer(several)).counts == {"limit": 4}
    endless = nested(500, "x")
    assert infer(endless) == infer(DEFAULT.redact(endless))


def test_subclasses_count_as_their_base_and_anything_else_is_refused():
    low = enum.IntEnum("Level", ["LOW"]).LOW
    assert infer(low).counts == {"integer": 1}
    ordered = OrderedDict(a=low, b=OrderedDict(c=1))
    assert infer([ordered, ordered, {"a": 2, "b": {"c": low}}]) == infer([{"a": 1, "b": {"c": 1}}] * 3)
    for raw in (b"raw", [b"raw"], [{"a": b"raw"}] * 2):
        with pytest.raises(TypeError, match="bytes is not a JSON type"):
            infer(raw)


def test_keys_that_are_data_go_under_values():
    evidence = infer({"17": {"a": 1}, "anna@example.com": {"a": None}, "plain": 1})
    assert list(evidence.properties) == ["plain"]
    assert evidence.values.counts == {"object": 2}
    assert evidence.values.properties["a"].counts == {"integer": 1, "null": 1}


def test_without_a_redactor_no_name_is_marked():
    assert not infer({"password": "x"}, redactor=None).properties["password"].redacted
    assert infer({"password": "x"}).properties["password"].redacted
