import json
from decimal import Decimal
from hashlib import sha256

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from affidavit._canonical import NotCanonical
from affidavit._intents.args import InvalidArgs, RequestArgs, args_hash, member_args, request_args
from affidavit._json import InvalidJson, parse

JSON = "application/json"


def test_a_json_body_is_hashed_in_its_canonical_form():
    args = request_args(b' {"b": 1.0, "a": "\\u00e9"} ', JSON)
    assert args == RequestArgs({"b": 1.0, "a": "é"}, sha256('{"a":"é","b":1}'.encode()).hexdigest())
    assert args.hash == args_hash({"a": "é", "b": 1})


def test_without_body_and_query_the_arguments_are_an_empty_object():
    assert request_args() == RequestArgs({}, sha256(b"{}").hexdigest())
    assert request_args(b"", JSON) == request_args()


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("a=1", {"a": "1"}),
        ("a=1&a=1", {"a": ["1", "1"]}),
        ("a=1&b=x&a=2&a=", {"a": ["1", "2", ""], "b": "x"}),
        ("q=caf%C3%A9+noir&flag", {"q": "café noir", "flag": ""}),
        ("a=1;b=2", {"a": "1;b=2"}),
        ("__proto__=x", {"__proto__": "x"}),
    ],
)
def test_a_query_is_an_object_of_strings_and_of_arrays_for_repeated_names(query, value):
    assert request_args(query=query) == RequestArgs(value, args_hash(value))
    form = "application/x-www-form-urlencoded; charset=UTF-8"
    assert request_args(query.encode(), form).value == value


@pytest.mark.parametrize("encoding", [None, "", "identity", "Identity", " identity\t"])
def test_the_encoding_identity_is_accepted(encoding):
    assert request_args(b"[1]", JSON, content_encoding=encoding).value == [1]


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity, gzip", "\x0bidentity", "\u00a0identity"])
def test_an_encoded_body_has_no_hash(encoding):
    with pytest.raises(InvalidArgs, match="Content-Encoding"):
        request_args(b"[1]", JSON, content_encoding=encoding)


def test_names_beyond_the_basic_plane_are_sorted_by_their_code_units():
    text = '{"\U0001f600":1,"\uff5e":2}'
    assert request_args('{"\uff5e":2,"\U0001f600":1}'.encode(), JSON).hash == sha256(text.encode()).hexdigest()


def test_a_body_takes_precedence_over_the_query():
    assert request_args(b"{}", JSON, "a=1").value == {}


@pytest.mark.parametrize("media_type", ["application/json", "Application/JSON; charset=utf-8", "text/json", "a/b+json"])
def test_several_media_types_are_json(media_type):
    assert request_args(b"[1]", media_type).value == [1]


@pytest.mark.parametrize("media_type", [
    "text/plain", "application/octet-stream", "", None, "application/jsonp", "json", "\x0bapplication/json",
    "application/json\u00a0", "application/json, text/plain", "application /json", "+json/x",
])  # fmt: skip
def test_a_body_of_any_other_media_type_is_hashed_as_bytes(media_type):
    body = b'{"a": 1}'
    assert request_args(body, media_type) == RequestArgs(body, sha256(body).hexdigest())


@pytest.mark.parametrize(
    "body",
    [
        b"{", b" ", b'{"a":1,"a":1}', b'{"a":NaN}', b'"\\ud800"', b"\xff", b"\xef\xbb\xbf{}", b"1e999", b'"\\u0000"',
        b"[" * 129 + b"]" * 129, b"9007199254740993", b"[-12345678901234567890]", b"0.10000000000000000001",
        b"0.12345678901234567891",
        b'{"a":1e-400}', b"1e-99999999999999999999", b"0.1e-99999999999999999999", b"1e-9999999",
        b"1.0000000000000000000000001",
    ],
)  # fmt: skip
def test_a_body_without_a_canonical_form_has_no_hash(body):
    with pytest.raises(InvalidArgs):
        request_args(body, JSON)


@pytest.mark.parametrize(
    "text", ["a=%ff", "a=%zz", "a=%2", "%", "%C3=1", "a=%ED%A0%80", "q=é", "é", "q=%C3%A9&r=é", "a=\xff", "a=\ud800"]
)
def test_text_that_is_not_percent_encoded_utf8_has_no_hash_as_query_or_as_form(text):
    with pytest.raises(InvalidArgs):
        request_args(query=text)
    with pytest.raises(InvalidArgs):
        request_args(text.encode("utf-8", "surrogatepass"), "application/x-www-form-urlencoded")


@pytest.mark.parametrize("zero", ["0e9999999999999999999", "-0.00E-9999999999999999999", "0e400", "0.0e-400"])
def test_zero_with_any_exponent_has_the_hash_of_zero(zero):
    assert hash_of_literal(zero) == args_hash({"n": 0})


def test_no_error_message_repeats_a_value():
    with pytest.raises(InvalidArgs) as caught:
        request_args(b'{"card": 4111111111111111111}', JSON)
    assert "4111" not in str(caught.value)


def test_given_arguments_without_a_canonical_form_are_refused():
    with pytest.raises(NotCanonical):
        args_hash({"id": 2**53 + 1})


digits = st.text("0123456789", min_size=1, max_size=25)
literals = st.builds(
    lambda sign, whole, fraction, exponent: f"{sign}{int(whole)}{fraction}{exponent}",
    st.sampled_from(["", "-"]),
    digits,
    st.just("") | digits.map(lambda text: f".{text}"),
    st.just("") | st.integers(-340, 300).map(lambda power: f"e{power}"),
)


def hash_of_literal(literal: str, around: str = '{"n":%s}') -> str | None:
    try:
        return request_args((around % literal).encode(), JSON).hash
    except InvalidArgs:
        return None


@given(literals, literals)
@example("0.1", "0.10000000000000000555")
@example("9007199254740992", "9007199254740993")
@example("1e23", "99999999999999991611392")
@example("4.9e-324", "5e-324")
@example("2.225073858e-308", "2.225073859e-308")
@example("1.797693134e308", "1.797693135e308")
def test_different_numbers_never_share_a_hash(first, second):
    hashes = hash_of_literal(first), hash_of_literal(second)
    assert None in hashes or (hashes[0] == hashes[1]) is (Decimal(first) == Decimal(second))


@given(literals)
@example("0.10000000000000000001")
@example("1e-400")
@example("12345678901234567.891")
def test_arguments_inside_a_larger_body_have_the_same_hash_as_alone(literal):
    """So an intent minted from a larger body verifies, and no intent is minted for arguments without a hash."""
    body = f'{{"other": 1e-400, "\\u0061rgs" : [{literal}] , "last": {{"args": 0}}}}'.encode()
    try:
        args_hash = member_args(body, "args", parse(body)["args"]).hash
    except (InvalidArgs, InvalidJson):
        args_hash = None
    assert args_hash == hash_of_literal(literal, "[%s]")


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53) + 1, 2**53 - 1))
def test_every_number_that_json_dumps_writes_has_a_hash(value):
    assert hash_of_literal(json.dumps(value)) == args_hash({"n": value})


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.text(max_size=3), max_size=3))
def test_the_hash_does_not_depend_on_whitespace_escapes_or_order(value):
    if "\0" in "".join([*value, *value.values()]):
        return
    hashes = {request_args(text.encode(), JSON).hash for text in (
        json.dumps(value), json.dumps(value, indent=2, ensure_ascii=False), json.dumps(value, sort_keys=True),
    )}  # fmt: skip
    assert hashes == {args_hash(value)}


@given(st.integers(1, 10**8 - 2), st.integers(-300, 300))
def test_neighbouring_short_numbers_have_different_hashes(number, power):
    hashes = [hash_of_literal(f"{near}e{power}") for near in (number, number + 1)]
    assert None not in hashes
    assert hashes[0] != hashes[1]
