"""The cached template of a descriptor's text gives the same shape as reading the descriptor, for any counts.

A template is the stored text of a shape, with marks in place of its counts.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from affidavit import describe, infer, parse_json
from affidavit._shapes.evidence import Evidence
from catalog.ingest.shape_templates import Shape, _make_template, fill_template, read_shape
from tests.catalog.json_values import VALUES

NAMES = st.sampled_from(["id", "50% off", "naïve ❄", 'a"seen":3', "17", "2024-01-01", "seen", "nulls", "x\\"])
COUNTS = st.integers(0, 4) | st.integers(0, 2**53 + 1)


def add_counts(node: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw descriptors with this node's members and any counts. Most of these counts contradict each other."""
    counts = st.fixed_dictionaries({}, optional={"seen": COUNTS, "nulls": st.integers(0, 4), "nullable": st.booleans()})
    return counts.map(lambda members: {**node, **members})


def extend(children: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    arrays = children.map(lambda items: {"type": "array", "items": items})
    objects = st.dictionaries(NAMES, children, max_size=3).map(lambda inner: {"type": "object", "properties": inner})
    maps = children.map(lambda values: {"type": "object", "values": values})
    types = st.dictionaries(st.sampled_from(["string", "object", "empty"]), st.integers(0, 3))
    unions = st.tuples(children, types).map(
        lambda parts: {"type": "unknown", "properties": {"a": parts[0]}, "types": parts[1]}
    )
    return (arrays | objects | maps | unions).flatmap(add_counts)


leaves = st.sampled_from(["string", "null", "integer", "unknown"]).map(lambda name: {"type": name, "reason": "empty"})
descriptors = st.recursive(leaves.flatmap(add_counts), extend, max_leaves=8)


def read_itself(text: bytes) -> Shape | None:
    descriptor = parse_json(text, max_depth=64)
    try:
        return read_shape(descriptor, 0) if "seen" in descriptor else None
    except ValueError:
        return None


def dump(descriptor: Any, **options: Any) -> bytes:
    return json.dumps(descriptor, ensure_ascii=False, **options).encode()


def replace_counts(node: Any, replacements: dict[int, int]) -> Any:
    match node:
        case dict():
            return {
                name: replacements[value] if name in ("seen", "nulls") and isinstance(value, int)
                else replace_counts(value, replacements)
                for name, value in node.items()
            }  # fmt: skip
    return node


def list_counts(node: Any) -> set[int]:
    if not isinstance(node, dict):
        return set()
    own = {value for name, value in node.items() if name in ("seen", "nulls") and isinstance(value, int)}
    return own.union(*map(list_counts, node.values()))


OBJECT = {"type": "object", "seen": 3, "types": {"object": 3}, "properties": {"a": {"type": "string", "seen": 3}}}
DATA = {"type": "object", "seen": 2, "properties": {"17": {"type": "null", "seen": 1}, "18": {"type": "null"}}}
NULLABLE = {"type": "object", "seen": 10, "nulls": 9, "properties": {"a": {"type": "string", "seen": 5}}}


@settings(max_examples=1000, deadline=None)
@given(descriptors, st.sampled_from([None, 1, (",", ":")]), st.sets(st.integers(1, 40), min_size=20, max_size=30))
@example(OBJECT, None, set(range(1, 40)))
@example(DATA, None, set(range(1, 40)))
@example(NULLABLE, None, {10, 20, 35, *range(36, 60)})
@example({"type": "string", "seen": 5, "nulls": 2}, None, set(range(1, 40)))
@example({"type": "string", "seen": 2, "nulls": 5}, None, set(range(1, 40)))
def test_a_template_gives_the_shape_of_the_descriptor_or_none(descriptor, layout, other_counts):
    """The second text has other counts in the same relative order, so the template of the first text is used for it."""
    options = {"separators": layout} if isinstance(layout, tuple) else {"indent": layout}
    counts = sorted({0, *list_counts(descriptor)})
    again = replace_counts(descriptor, dict(zip(counts, [0, *sorted(other_counts)], strict=False)))
    for sent in (descriptor, again):
        text = dump(sent, **options)
        assert fill_template(text) in (None, read_itself(text))


@settings(deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=4), st.lists(st.integers(1, 9), min_size=4, max_size=4))
def test_a_witness_descriptor_without_nulls_maps_and_several_types_has_a_template(values, times):
    """A descriptor that has one of these may have a template too, for example if only a string is sometimes null."""
    evidence = Evidence()
    for value, number in zip(values, times, strict=False):
        for _ in range(number):
            evidence.add(infer(value))
    descriptor = describe(evidence)
    text = dump(descriptor)
    shape = fill_template(text)
    assert shape in (None, read_itself(text))
    assert shape is not None or any(name in text for name in (b'"types"', b'"collapsed"', b'"values"', b'"nulls"'))


def test_descriptors_that_differ_only_in_counts_share_a_template():
    def build(seen: int, optional: int, nulls: int) -> bytes:
        inner = {"type": "string", "seen": optional, "nulls": nulls}
        return dump({"type": "object", "seen": seen, "properties": {"100% of it": inner}})

    misses = _make_template.cache_info().misses
    for seen, optional, nulls in ((9, 5, 2), (90, 7, 1), (10**14, 3, 2)):
        text = build(seen, optional, nulls)
        assert fill_template(text) == read_itself(text) is not None
    assert _make_template.cache_info().misses == misses + 1


@pytest.mark.parametrize(
    "text",
    [
        b'{"type":"string","seen":007}', b'{"type":"string","seen":-1}', b'{"type":"string","seen":1.5}',
        b'{"type":"string","seen":1e3}', b'{"type":"string","seen":9007199254740993}', b'{"type":"string"}',
        b'{"type":"string","seen":1,"seen":1}', b'{"type":"string","seen":\x00}', b'{"type":"string","seen":1,}',
        b'{"type":"string","seen":1,"x":\x00}', b'["seen",1]', b"[" * 70 + b'{"type":"string","seen":1}' + b"]" * 70,
    ],
)  # fmt: skip
def test_an_unusual_descriptor_has_no_template(text):
    assert fill_template(b'{"type":"string","seen":1}') is not None
    assert fill_template(text) is None
