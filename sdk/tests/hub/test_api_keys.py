import re
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit._hub.api_keys import ALPHABET, is_well_formed, make_key

prefixes = st.sampled_from(["gak_", "pk_"])


@given(prefixes)
def test_a_generated_key_has_the_form_of_the_contract(prefix):
    key = make_key(prefix)
    assert re.fullmatch(prefix + r"[0-9A-Za-z]{32}", key)
    assert is_well_formed(key)


@given(prefixes)
def test_the_last_six_characters_are_the_crc_of_everything_before_them(prefix):
    key = make_key(prefix)
    number = 0
    for character in key[-6:]:
        number = number * 62 + ALPHABET.index(character)
    assert number == zlib.crc32(key[:-6].encode())


@given(prefixes, st.data())
def test_any_single_wrong_character_is_detected(prefix, data):
    key = make_key(prefix)
    position = data.draw(st.integers(len(prefix), len(key) - 1))
    wrong_character = data.draw(st.sampled_from([c for c in ALPHABET if c != key[position]]))
    assert not is_well_formed(key[:position] + wrong_character + key[position + 1 :])


@given(prefixes, st.data())
def test_two_swapped_neighbours_are_detected(prefix, data):
    key = make_key(prefix)
    position = data.draw(st.integers(len(prefix), len(key) - 2))
    swapped_key = key[:position] + key[position + 1] + key[position] + key[position + 2 :]
    assert swapped_key == key or not is_well_formed(swapped_key)


@pytest.mark.parametrize(
    "change",
    [
        lambda key: key[:-1],
        lambda key: key + "0",
        lambda key: key + "\n",
        lambda key: " " + key,
        lambda key: "pk_" + key[4:],
        lambda key: key.removeprefix("gak_"),
        lambda key: key[:-1] + "é",
        lambda key: "",
    ],
)
def test_a_key_that_is_cut_padded_or_has_another_prefix_is_not_well_formed(change):
    assert not is_well_formed(change(make_key("gak_")))


def test_no_two_keys_are_alike():
    assert len({make_key("gak_") for _ in range(1000)}) == 1000


def test_only_keys_with_a_known_prefix_are_generated():
    with pytest.raises(ValueError, match="gak_ or pk_"):
        make_key("gas_")


def test_a_checksum_with_leading_zeros_keeps_its_six_characters():
    body = next(b for n in range(10**6) if zlib.crc32((b := f"gak_{n:026d}").encode()) < 62**5)
    number, digits = zlib.crc32(body.encode()), ""
    while number:
        number, digit = divmod(number, 62)
        digits = ALPHABET[digit] + digits
    assert is_well_formed(body + digits.rjust(6, "0"))
    assert not is_well_formed(body + digits)
