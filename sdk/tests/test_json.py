"""Strict JSON refuses texts that two programs could read differently, and reads all others like any parser."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit._json import InvalidJson, member_text, parse, whole_number

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
scalars = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | texts
)
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=20)

REFUSED = {
    "not-utf-8": [b'"\xff"', b'"\xed\xa0\x80"', "{}".encode("utf-16")],
    "byte-order-mark": [b"\xef\xbb\xbf{}", "\ufeff{}"],
    "duplicate-name": ['{"a": 1, "a": 1}', '[{"b": [{"a": 1, "\\u0061": 2}]}]'],
    "lone-surrogate": ['"\\ud800"', '"\\uDC00"', '{"\\ud83d": 1}', '"\\ud83d\\ud83d\\ude00"', '"\ud800"',
                       '"\\ud83d\\\\\\ude00"', '"\\ud83d\\ude00\\ude00"'],
    "nul": ['"\\u0000"', '{"\\u0000": 1}', '["\\\\\\u0000"]'],
    "not-a-number": ["NaN", "[Infinity]", '{"a": -Infinity}'],
    "number-overflow": ["1e400", "-1e400", "1" + "0" * 400, "1" + "0" * 5000, "-" + "9" * 309],
    "too-deep": ["[" * 129 + "]" * 129, '{"a":' * 129 + "1" + "}" * 129, "[" * 100_000, "[" * 100_000 + "]" * 100_000],
    "syntax": ["", " ", "{", "[1,]", "{'a': 1}", "01", '"\t"', "[1] 2", "\u00a01", "tru"],
}  # fmt: skip
CASES = [(reason, data) for reason, many in REFUSED.items() for data in many]


@pytest.mark.parametrize(("reason", "data"), CASES, ids=[f"{reason}-{i}" for i, (reason, _) in enumerate(CASES)])
def test_what_two_parsers_could_read_differently_is_refused(reason, data):
    with pytest.raises(InvalidJson) as refusal:
        parse(data)
    assert refusal.value.reason == reason


@given(values)
def test_all_other_json_is_read_like_the_standard_parser_does(value):
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False), json.dumps(value, indent=1)):
        assert parse(text) == parse(text.encode()) == json.loads(text)


@pytest.mark.parametrize("text", ['"\\\\u0000"', '"\\\\ud800"', '"\\ud83d\\ude00"', '"\\\\"', '"[[[\\"{{"', "1e308"])
def test_text_that_only_looks_faulty_is_read(text):
    assert parse(text) == json.loads(text)


@given(st.integers(1, 12), st.integers(1, 12), st.booleans())
def test_depth_is_counted_from_the_outermost_value_and_not_inside_strings(depth, limit, noise):
    leaf = '"]]}{{[[\\"[[["' if noise else "[]"
    text = "[" * (depth - 1) + f"[{leaf}, []]" + "]" * (depth - 1)
    if depth + 1 <= limit:
        assert parse(text, max_depth=limit) == json.loads(text)
    else:
        with pytest.raises(InvalidJson, match="deep"):
            parse(text, max_depth=limit)


def test_depth_128_is_read_in_wide_and_in_narrow_documents():
    for inner in ("", "{}," * 500 + "{}"):
        deep = 128 - bool(inner)
        assert parse("[" * deep + inner + "]" * deep)


def test_half_a_surrogate_pair_is_refused_in_a_text_too():
    with pytest.raises(InvalidJson) as caught:
        parse('"\udfff"')
    assert caught.value.reason == "lone-surrogate"


def test_a_backslash_before_a_quote_hides_no_brackets():
    text = '["\\\\",' + "[" * 200 + "]" * 200 + "]"
    with pytest.raises(InvalidJson) as caught:
        parse(text)
    assert caught.value.reason == "too-deep"


def test_the_largest_integers_are_read_exactly():
    assert parse("1" + "0" * 307 + "7") == 10**308 + 7
    with pytest.raises(InvalidJson) as caught:
        parse("2" + "0" * 308)
    assert caught.value.reason == "number-overflow"


def test_a_syntax_error_says_in_which_line_and_column_it_is():
    with pytest.raises(InvalidJson, match=r"See line 2, column 3\.$"):
        parse('{"a": 1\n  "b": 2}')  # Pythons before 3.13 place a trailing comma elsewhere


def test_no_refusal_repeats_what_was_sent():
    for _, data in [*CASES, ("syntax", '{"canary-value": canary}'), ("duplicate-name", '{"canary": 1, "canary": 2}')]:
        with pytest.raises(InvalidJson) as refusal:
            parse(data)
        assert "canary" not in str(refusal.value)
        assert not isinstance(refusal.value.__context__, json.JSONDecodeError)


@given(st.dictionaries(texts, values, min_size=1, max_size=5), st.data(), st.sampled_from([None, 2]), st.booleans())
def test_the_text_of_any_member_is_found_however_the_object_is_written(members, data, indent, ascii_only):
    name = data.draw(st.sampled_from(list(members)))
    text = json.dumps(members, indent=indent, ensure_ascii=ascii_only)
    assert json.loads(member_text(text, name)) == members[name]


@pytest.mark.parametrize(
    ("written", "expected"),
    [("2", 2), ("2.0", 2), ("2e0", 2), ("-0.0", 0), ("1e300", int(1e300)), ("2.5", None), ("true", None), ('"2"', None),
     ("null", None), ("[2]", None)],
)  # fmt: skip
def test_a_number_is_whole_by_its_value_and_not_by_its_notation(written, expected):
    number = whole_number(parse(written))
    assert (number, type(number)) == (expected, type(expected))


@pytest.mark.parametrize("text", ["[" * 2_000_000 + "]" * 2_000_000, "[" * 4_000_000, '{"a":' * 800_000])
def test_endless_brackets_are_refused_in_one_pass(text):
    start = time.process_time()
    with pytest.raises(InvalidJson):
        parse(text)
    assert time.process_time() - start < 1.5
