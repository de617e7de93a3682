"""The values of a new type are counted in words."""

from __future__ import annotations

import pytest

from catalog.change_added_types import count_new_type


@pytest.mark.parametrize(
    ("count", "before", "after", "words"),
    [
        (1, "integer", "integer or string", "1 string"),
        (2, "null", "object or null", "2 objects"),
        (1_000, "string", "string or null", "1,000 nulls"),
        (3, "integer", "map of integer", "3 objects"),
        (2, "integer", "integer or string or boolean", "2 values of new types"),
    ],
)
def test_the_values_of_a_new_type_are_counted_in_words(count, before, after, words):
    assert count_new_type(count, before, after) == words
