"""Maps are recognised by their similar values, in any order. Ordinary records are never taken for maps."""

from __future__ import annotations

import random
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.map_values import PRICE, WORDS, bodies, infer_all

from affidavit import Evidence, infer, merge
from affidavit.operations import is_alike_map


@pytest.mark.parametrize(
    "values",
    [
        bodies(PRICE),
        bodies([PRICE]),
        bodies(lambda name: PRICE if name[0] != "b" else {**PRICE, "until": "x"}),
        [*bodies(PRICE), {"bal": None}, {}],
        [*bodies(PRICE), {"4f1c2d3e-9a53-4b7e-8f5a-0f4f0c6f6b11": PRICE}],
        bodies(1, names=80, size=4),
        bodies(["x"], names=64, size=2),
    ],
)
def test_many_rare_names_with_similar_values_are_a_map(values):
    assert is_alike_map(infer_all(*values))


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([dict.fromkeys(WORDS[:40], PRICE)] * 9, "every name is always there"),
        ([{**body, "total": PRICE} for body in bodies(PRICE)], "one name is always there"),
        (bodies(PRICE, names=18), "they are few"),
        # Scalars are alike in records too, so it takes at least 64 names to call them a map.
        (bodies(1, names=60), "scalars are always alike"),
        (bodies("x", names=100, size=25), "each name is in too many objects for a map of scalars"),
        (bodies({"data": {"id": 1, "type": "x"}}), "all are wrapped in `data`, as the relationships of JSON:API are"),
        (bodies(lambda name: PRICE if name[0] != "b" else {"key": 1, "secret": 2}), "some have other properties"),
        (bodies(lambda name: PRICE if name[0] != "b" else {**PRICE, "amount": "1"}), "a property of two types"),
        (bodies(lambda name: PRICE if name[0] != "b" else 1), "values of two types"),
        (bodies(lambda name: [PRICE] if name[0] != "b" else PRICE), "one or many"),
        (bodies({}), "nothing is known of the values"),
        (bodies(lambda name: {"amount": 1, "password": 2} if name != "bal" else 7), "one is something else"),
        ([*bodies(PRICE), {"4f1c2d3e-9a53-4b7e-8f5a-0f4f0c6f6b11": 1}], "the values under names that are data differ"),
        ([*bodies(PRICE), {"password": PRICE}], "one name is sensitive and the others are not"),
    ],
)
def test_an_object_that_may_be_a_record_is_no_map(values, why):
    assert not is_alike_map(infer_all(*values)), why


def test_three_fixed_names_are_a_record_however_often_they_are_seen():
    assert not is_alike_map(infer_all(*[{"width": 1, "height": 2, "depth": 3}] * 1000))


names = st.text(string.ascii_lowercase, min_size=3, max_size=5)
scalars = st.none() | st.integers() | st.text("ab", max_size=1)
values = st.sampled_from([PRICE, {**PRICE, "note": None}, {}, 1, None, [PRICE]]) | scalars
objects = st.dictionaries(st.sampled_from(WORDS[:60]), values, max_size=4)


@given(st.lists(objects, max_size=40), st.randoms(use_true_random=False), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_any_order_and_batching_gives_the_same_verdict(some: list[Any], chance: random.Random, cut: int):
    certain = bodies(PRICE)
    mixed = chance.sample([*certain, *some], len(certain) + len(some))
    batches = [infer_all(*mixed[start::cut]) for start in range(cut)]
    total = Evidence()
    for batch in chance.sample(batches, len(batches)):
        total = merge(total, batch)
    assert is_alike_map(total) == is_alike_map(infer_all(*certain, *some))


@given(st.lists(objects, min_size=1, max_size=40), names)
@settings(max_examples=40, deadline=None)
def test_a_record_with_a_property_that_is_always_there_is_never_a_map(some: list[Any], always: str):
    assert not is_alike_map(infer_all(*[{**body, always: PRICE} for body in [*bodies(PRICE), *some]]))


@given(st.lists(objects, max_size=10))
@settings(max_examples=40, deadline=None)
def test_asking_for_the_verdict_changes_no_state(some: list[Any]):
    total = infer_all(*bodies(PRICE), *some)
    before = total.copy()
    is_alike_map(total)
    assert total == before


def test_later_evidence_can_turn_a_map_into_a_record_that_keeps_its_names():
    total = infer_all(*bodies(PRICE))
    assert is_alike_map(total)
    total.add(infer({WORDS[0]: "closed"}))
    assert not is_alike_map(total)
    assert set(total.properties) == set(WORDS[:40])
