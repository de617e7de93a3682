"""How numbers are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workspaces.templatetags import numbers


@pytest.mark.parametrize(("value", "written"), [(0, "0"), (12204, "12,204"), (None, "–")])
def test_counts_have_groups_of_three(value, written):
    assert numbers.count(value) == written


@pytest.mark.parametrize(
    ("part", "whole", "written"),
    [
        (127, 5058, "2.5 %"), (41, 13190, "0.3 %"), (1, 2, "50.0 %"), (3, 1000, "0.3 %"),
        (0, 9, "0 %"), (9, 9, "100 %"),
        (3, 1, "300.0 %"), (1, 10**6, "< 0.1 %"), (999_999, 10**6, "> 99.9 %"),
        (0, 0, "–"), (None, 5, "–"), (5, None, "–"),
    ],
)  # fmt: skip
def test_a_rate_has_one_decimal(part, whole, written):
    assert numbers.percent(part, whole) == written


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_only_an_exact_zero_is_0_and_only_an_exact_whole_is_100_percent(part, whole):
    written = numbers.percent(part, whole)
    assert (written == "0 %") == (part == 0)
    assert part <= whole or written not in ("0 %", "> 99.9 %")
    if part < whole:
        assert written != "100 %"


@pytest.mark.parametrize(
    ("value", "written"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"), (2**22, "4 MiB"), (2**50, "1024 TiB")],
)
def test_sizes_are_in_binary_units(value, written):
    assert numbers.format_bytes(value) == written


@pytest.mark.parametrize(
    ("now", "before", "words"),
    [
        (39, 6, "6.5×"), (10, 2, "5×"), (4, 2, "2×"), (399, 200, "+99.5 %"), (6, 7, "−14.3 %"), (5, 5, "0 %"),
        (5, 0, "–"), (12_000, 1, "12,000×"),
        (10_007, 10_000, "+0.1 %"), (10_001, 10_000, "±0 %"), (9999, 10_000, "±0 %"),
        (0, 7, "−100 %"), (1, 20_000, "−99.9 %"), (19_999, 10_000, "+99.9 %"),
    ],
)  # fmt: skip
def test_a_change_is_a_factor_from_a_doubling_on(now, before, words):
    assert numbers.format_change(now, before) == words


@pytest.mark.parametrize(
    ("now", "before", "words"),
    [
        ((2, 3386), (1, 2260), "±0"),  # 0.06 % and 0.04 %: rounded, the difference would be 0.1
        ((7, 2764), (5, 2260), "±0"),
        ((24, 1000), (14, 1000), "+1.0"),
        ((0, 0), (1, 2), ""),
    ],
)
def test_the_change_of_a_rate_agrees_with_the_rates_but_is_no_larger_than_what_changed(now, before, words):
    assert numbers.rate_change(*now, *before) == words
