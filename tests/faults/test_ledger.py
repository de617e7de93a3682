"""The comparison finds a planted loss, a planted duplicate and a stored refused item, and nothing else."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tests.faults.ledger import Bounds, Item, Ledger, compare

OUTCOME = Item("outcome", "c-1 purchase")
REPORTS = Item("report of an outcome", "c-1 purchase")


def test_an_item_acknowledged_once_and_stored_once_is_exact():
    row = compare({OUTCOME: Bounds(1, 1)}, {OUTCOME: 1})["outcome"]
    assert (row.acknowledged, row.unanswered, row.is_exact) == (1, 0, True)


def test_a_planted_loss_is_found():
    assert compare({OUTCOME: Bounds(1, 1)}, {})["outcome"].lost == ["c-1 purchase: 0 of 1"]
    assert compare({REPORTS: Bounds(3, 5)}, {REPORTS: 2})[REPORTS.kind].lost == ["c-1 purchase: 2 of 3"]


def test_a_planted_duplicate_is_found():
    assert compare({OUTCOME: Bounds(1, 1)}, {OUTCOME: 2})["outcome"].doubled == ["c-1 purchase: 2, at most 1"]
    assert compare({OUTCOME: Bounds(0, 1)}, {OUTCOME: 2})["outcome"].doubled == ["c-1 purchase: 2, at most 1"]


def test_a_refused_or_invented_item_that_is_stored_is_found():
    assert compare({OUTCOME: Bounds(0, 0)}, {OUTCOME: 1})["outcome"].stored_though_refused == ["c-1 purchase"]
    assert compare({}, {OUTCOME: 1})["outcome"].stored_though_refused == ["c-1 purchase"]


def test_an_unanswered_item_may_be_stored_or_not():
    for number in (0, 1):
        row = compare({OUTCOME: Bounds(0, 1)}, {OUTCOME: number})["outcome"]
        assert (row.unanswered, row.is_exact) == (1, True)


def test_a_ledger_keeps_what_was_sent_acknowledged_and_refused():
    ledger = Ledger()
    ledger.note_sent({OUTCOME: 1, REPORTS: 1})
    ledger.note_sent({REPORTS: 1})  # a second delivery without an idempotency key
    ledger.note_acknowledged({OUTCOME: 1, REPORTS: 1})
    other = Item("outcome", "c-2 purchase")
    ledger.note_sent({other: 1})
    ledger.note_refused({other: 1})
    assert ledger.read_bounds() == {OUTCOME: Bounds(1, 1), REPORTS: Bounds(1, 2), other: Bounds(0, 0)}
    assert ledger.count_refused() == {"outcome": 1}


BOUNDS = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda pair: Bounds(pair[0], sum(pair)))
NAMES = st.sampled_from(["a", "b", "c"]).map(lambda name: Item("outcome", name))


@given(st.dictionaries(NAMES, BOUNDS), st.dictionaries(NAMES, st.integers(0, 12)))
def test_a_comparison_is_exact_if_and_only_if_every_number_is_within_its_bounds(bounds, stored):
    is_exact = all(row.is_exact for row in compare(bounds, stored).values())
    numbers = Counter(stored)
    outside = [
        item
        for item in bounds.keys() | numbers.keys()
        if not bounds.get(item, Bounds(0, 0)).least <= numbers[item] <= bounds.get(item, Bounds(0, 0)).most
    ]
    assert is_exact == (not outside)
