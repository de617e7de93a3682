"""The colour of a name depends on the name, not on its rank, and the colours of one chart differ."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from wire.charts.series_colours import PALETTE, choose_colours

TOKENS = Path(__file__).parents[3] / "static/css/tokens.css"
NAMES = st.lists(st.text(max_size=12), unique=True, max_size=9)


@given(NAMES, st.randoms())
def test_the_order_of_names_changes_no_colour(names, random):
    shuffled = random.sample(names, len(names))
    assert choose_colours(shuffled) == choose_colours(names)
    assert set(choose_colours(names)) == set(names)


@given(NAMES)
def test_the_colours_of_one_chart_differ(names):
    colours = choose_colours(names)
    assert len(set(colours.values())) == min(len(names), len(PALETTE) + 1)


@given(NAMES, st.text(max_size=12))
def test_a_further_name_changes_no_colour_of_names_that_prefer_another(names, further):
    assume(further not in names)
    preferred = {name: choose_colours([name])[name] for name in [*names, further]}
    before, after = choose_colours(names), choose_colours([*names, further])
    for name in names:
        if preferred[name] == before[name] != preferred[further]:
            assert after[name] == before[name]


@given(NAMES)
def test_a_name_keeps_its_own_colour_unless_another_name_prefers_the_same(names):
    colours = choose_colours(names)
    preferred = {name: choose_colours([name])[name] for name in names}
    for name, colour in preferred.items():
        if list(preferred.values()).count(colour) == 1:
            assert colours[name] == colour
    for colour in set(preferred.values()):
        assert colour in colours.values()


@pytest.mark.parametrize(
    ("name", "number"), [("purchase", 1), ("refund", 2), ("expired", 2), ("replayed", 3), ("Zürich", 7)]
)
def test_colours_stay_the_same_from_version_to_version(name, number):
    assert choose_colours([name]) == {name: f"var(--series-{number})"}


def test_the_most_usual_reasons_prefer_different_colours():
    usual = ["expired", "unsupported-version", "missing-header", "replayed", "args-mismatch", "bad-signature"]
    assert choose_colours(usual) == {name: choose_colours([name])[name] for name in usual}


def test_no_series_has_the_colour_of_the_marks_on_a_chart_in_either_theme():
    pairs = re.findall(r"--(series-\d|bad): light-dark\((#\w{6}), (#\w{6})\)", TOKENS.read_text())
    themes = {name: colours for name, *colours in pairs}
    marks = themes.pop("bad")
    assert len(themes) == len(PALETTE) + 1
    for theme, mark in enumerate(marks):
        assert mark not in {colours[theme] for colours in themes.values()}
        assert len({colours[theme] for colours in themes.values()}) == len(themes)
