"""Values, pointers and visible parts for the tests of evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from affidavit import Evidence
from catalog.evidence.epoch_sums import EpochEvidence, NodeReset, VisiblePart, build_visible_part
from catalog.shape_pointers import ITEMS, join_property

NAMES = ["a", "b", "", "x/y", "~0", "[]", "{}", "~2]"]
values = st.recursive(
    st.none() | st.integers(0, 1) | st.just("x"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=8,
)
ITEM = None  # a step to the items of an array


def build_part(
    epochs: dict[int, Evidence], *, starts: Sequence[NodeReset] = (), maps: Any = None, **options: Any
) -> VisiblePart:
    return build_visible_part([EpochEvidence(epochs, starts)], map_rules=maps, **options)


def join_pointer(path: list[str | None]) -> str:
    pointer = ""
    for step in path:
        pointer = f"{pointer}/{ITEMS}" if step is ITEM else join_property(pointer, step)
    return pointer
