"""JSON values for property-based tests, with names that look like the steps of a pointer."""

from __future__ import annotations

from hypothesis import strategies as st

NAMES = st.text("ab/~", max_size=3) | st.sampled_from(["[]", "{}", "~2]", "17"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)
