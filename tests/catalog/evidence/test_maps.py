"""An object is shown as a map if its values are alike, or if a map rule says so. Its names are kept."""

from __future__ import annotations

from typing import Any

from support.map_values import PRICE, bodies, infer_all

from affidavit import describe
from catalog.evidence.epoch_sums import VisiblePart
from tests.catalog.evidence.visible_parts import build_part


def build_map(*values: Any, **options: Any) -> VisiblePart:
    return build_part({0: infer_all(*values)}, **options)


def test_a_map_recognised_by_similar_values_is_shown_as_values_and_keeps_its_names():
    evidence = infer_all(*bodies(PRICE))
    result = build_part({0: evidence})
    assert result.maps == {"": 40}
    assert describe(result.evidence, counts=False) == {
        "type": "object",
        "values": {
            "type": "object",
            "properties": {"amount": {"type": "integer"}, "currency": {"type": "string"}},
        },
    }
    assert len(evidence.properties) == 40


def test_a_manual_override_decides_between_map_and_properties():
    assert build_map(*bodies(PRICE), maps={"": False}).maps == {}
    result = build_map({"width": 1, "height": 2.5, "4f1c2d3e-9a53-4b7e-8f5a-0f4f0c6f6b11": None}, maps={"": True})
    assert describe(result.evidence) == {
        "type": "object",
        "seen": 1,
        "values": {"type": "number", "nullable": True, "seen": 3, "nulls": 1, "types": {"number": 1, "integer": 1}},
    }


def test_maps_within_maps_are_identified_by_the_visible_nodes():
    """In the map, the name `x` is not shown. So the rule of `/{}` applies and that of `/x` does not."""
    nested = {"x": {"a": {"k": 1}}, "y": {"b": {"k": "s"}}}
    result = build_map(nested, maps={"": True, "/{}": True, "/x": True})
    assert result.maps == {"": 2, "/{}": 2}
    inner = describe(result.evidence, counts=False)["values"]["values"]["properties"]["k"]
    assert inner == {"type": "unknown", "reason": "divergent"}


def test_names_dropped_beyond_the_limit_of_200_do_not_come_back():
    many = {f"name{'abcdefghij'[n % 10]}{'abcdefghij'[n // 10 % 10]}{'abc'[n // 100]}": 1 for n in range(201)}
    result = build_map(many, maps={"": False})
    assert result.evidence.collapsed
    assert not result.evidence.properties
