"""Names are written so that names which differ look different."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.text.invisible_characters import spell_out


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("purchase", "purchase"),
        ("", ""),
        ("two  words", "two  words"),
        (" purchase  ", r"\x20purchase\x20\x20"),
        ("  ", r"\x20\x20"),
        ("a\u00a0b\u200b", r"a\xa0b\u200b"),
        ("line\nbreak\ttab", r"line\nbreak\ttab"),
        ("\u202eabc", r"\u202eabc"),
        ("été שלום 😀", "été שלום 😀"),
    ],
)
def test_characters_that_cannot_be_seen_are_codes(name, text):
    assert spell_out(name) == text


@given(st.text())
def test_a_spelled_name_has_only_characters_that_can_be_seen(name):
    text = spell_out(name)
    assert text.isprintable()
    assert text == text.strip()
