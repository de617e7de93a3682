import json
import math
import os
import random
import struct
from decimal import Decimal
from enum import IntEnum, StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recorded import require_shared

from affidavit._canonical import NotCanonical, ascii_json, canonical_json, compact_json, number_text
from affidavit._json import parse

NO_RFC8785 = "needs the package rfc8785"
DOCUMENTS = int(os.environ.get("AFFIDAVIT_FUZZ", "20000"))

texts = st.text(st.characters(exclude_categories=["Cs"]))
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
documents = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=30)


@pytest.mark.parametrize("name", ["arrays", "french", "structures", "unicode", "values", "weird"])
def test_published_vectors_come_out_byte_for_byte(name):
    vectors = require_shared("vectors/jcs")
    canonical = canonical_json(parse((vectors / "input" / f"{name}.json").read_bytes()))
    assert canonical == (vectors / "output" / f"{name}.json").read_bytes()
    assert canonical == bytes.fromhex((vectors / "outhex" / f"{name}.txt").read_text())


def random_double(source: random.Random) -> float:
    while True:
        (value,) = struct.unpack("<d", source.randbytes(8))
        if math.isfinite(value):
            return value


def random_document(source: random.Random, depth: int = 0):
    kind = source.randrange(8 if depth < 4 else 6)
    if kind == 0:
        return source.choice([None, True, False, 0, -0.0, "", 1e21, 1e-7, 5e-324])
    if kind == 1:
        return source.randrange(-(2**53) + 1, 2**53)
    if kind == 2:
        return random_double(source)
    if kind == 3:
        return round(source.uniform(-1000, 1000), source.randrange(6))
    if kind < 6:
        return "".join(chr(source.choice([source.randrange(1, 0x80), 0xE9, 0xFFFD, 0x1F600])) for _ in range(5))
    if kind == 6:
        return [random_document(source, depth + 1) for _ in range(source.randrange(4))]
    names = ("".join(chr(source.choice([65, 97, 0xE000, 0x10000, 0x1F600])) for _ in range(2)) for _ in range(4))
    return {name: random_document(source, depth + 1) for name in names}


def test_seeded_documents_agree_with_the_rfc8785_package():
    rfc8785 = pytest.importorskip("rfc8785", reason=NO_RFC8785)
    source = random.Random(8785)
    for _ in range(DOCUMENTS):
        document = random_document(source)
        assert canonical_json(document) == rfc8785.dumps(document)


@given(documents)
def test_any_document_agrees_with_the_rfc8785_package(document):
    rfc8785 = pytest.importorskip("rfc8785", reason=NO_RFC8785)
    assert canonical_json(document) == rfc8785.dumps(document)


@given(documents)
def test_the_canonical_form_of_a_canonical_form_is_itself(document):
    canonical = canonical_json(document)
    assert canonical_json(json.loads(canonical)) == canonical


@given(documents, documents)
def test_different_documents_have_different_forms(first, second):
    same = json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
    assert same or _equal_by_value(first, second) or canonical_json(first) != canonical_json(second)


def _equal_by_value(first, second) -> bool:
    """Return whether two values are equal as JSON: 1 equals 1.0; unlike in Python, 1 does not equal true."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_equal_by_value(first[name], second[name]) for name in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_equal_by_value, first, second))
    return first == second


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_keeps_its_double(value):
    assert float(number_text(value)) == value


@given(st.integers(-(10**400), 10**400) | st.integers(2**53 - 3, 2**70))
def test_an_integer_is_refused_exactly_when_its_text_would_mean_another_number(value):
    try:
        same = Decimal(number_text(float(value))) == value
    except OverflowError:
        same = False
    if same:
        assert Decimal(canonical_json(value).decode()) == value
    else:
        with pytest.raises(NotCanonical):
            canonical_json(value)


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 12345678901234567890, 10**309])
def test_an_integer_that_a_double_cannot_represent_is_refused(value):
    with pytest.raises(NotCanonical):
        canonical_json({"id": [value]})


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, "\ud800", {"\udfff": 1}, {1: 2}, {None: 1, "a": 2}, b"x", {1, 2}, object()]
)
def test_what_is_not_json_is_refused_with_a_value_error(value):
    with pytest.raises(NotCanonical):
        canonical_json({"a": value})
    assert issubclass(NotCanonical, ValueError)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (10**21, "1e+21"), (-15 * 10**21, "-1.5e+22"), (2**70, "1.1805916207174113e+21"), (10**21 + 1, None),
        (15 * 10**21 + 1, None), (2**53 - 1, "9007199254740991"), (2**53 + 1, None), (2**60, None),
    ],
)  # fmt: skip
def test_a_large_integer_is_written_only_if_its_text_has_the_same_value(value, text):
    if text is not None and int(Decimal(text)) == value:
        assert canonical_json(value) == text.encode()
    else:
        with pytest.raises(NotCanonical):
            canonical_json(value)


def test_a_value_that_holds_itself_is_refused():
    loop: list = []
    loop.append(loop)
    with pytest.raises(NotCanonical):
        canonical_json(loop)


def test_a_string_subclass_with_its_own_str_method_is_written_by_its_characters():
    class Shouted(str):
        def __str__(self) -> str:
            return self.upper()

    assert canonical_json(Shouted("a")) == b'"a"'


def test_subclasses_are_written_as_their_base_types():
    number, text = IntEnum("N", {"A": 7}), StrEnum("T", {"B": "b"})
    assert canonical_json({"n": number.A, "t": text.B, "p": (1, 2)}) == b'{"n":7,"p":[1,2],"t":"b"}'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e21, "1e+21"), (1e20, "100000000000000000000"), (1e-6, "0.000001"), (1e-7, "1e-7"), (-0.0, "0"),
        (1.5e-6, "0.0000015"), (123456789012345680000.0, "123456789012345680000"), (5e-324, "5e-324"),
        (-1.2345e-5, "-0.000012345"), (4.35, "4.35"), (1e16, "10000000000000000"), (100.0, "100"),
    ],
)  # fmt: skip
def test_numbers_are_laid_out_as_ecmascript_does(value, text):
    assert number_text(value) == text


def test_names_are_ordered_by_utf16_code_units():
    assert canonical_json({"\ufb33": 1, "\U0001f600": 2}) == '{"\U0001f600":2,"\ufb33":1}'.encode()


def test_the_compact_form_is_that_of_json_stringify():
    value = {"b": 1.0, "10": 2, "a": "é\u2028\x7f\x01/", "9": 12345678901234567890, "01": -0.0}
    expected = '{"9":12345678901234567000,"10":2,"b":1,"a":"é\u2028\x7f\\u0001/","01":0}'
    assert compact_json(value) == expected.encode()


def test_the_last_index_of_an_array_is_two_below_two_to_the_32nd():
    assert compact_json({"4294967295": 1, "b": 2, "4294967294": 3}) == b'{"4294967294":3,"4294967295":1,"b":2}'


def test_the_ascii_form_escapes_what_is_not_ascii():
    assert ascii_json({"n": "é\U0001f600"}) == b'{"n":"\\u00e9\\ud83d\\ude00"}'


def test_equal_shapes_are_written_with_the_same_bytes():
    """Objects with the same names are written in one order of names, whatever order they had."""
    record = {"b": 1, "a": 2}
    assert canonical_json([record, record, {"a": 3, "b": 4}]) == b'[{"a":2,"b":1},{"a":2,"b":1},{"a":3,"b":4}]'
