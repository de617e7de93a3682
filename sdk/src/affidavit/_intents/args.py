"""The arguments of a tool call and their hash (contract §3, "Arguments")."""

import json
import re
import sys
from decimal import Decimal, InvalidOperation
from hashlib import sha256
from math import inf
from typing import NamedTuple
from urllib.parse import parse_qsl

from affidavit._canonical import NotCanonical, canonical_json, number_text
from affidavit._json import InvalidJson, Json, is_json_type, member_text, parse

# The outline of a JSON body shows whether the body needs the slower way. It is the body with 0 for every digit and
# point, e for E, d for D, and 0xFF for the first byte of every character that has two UTF-16 units. Searching it is
# faster than a regular expression.
_OUTLINE = bytes.maketrans(b"123456789.ED" + bytes(range(0xF0, 0xFF)), b"0000000000ed" + b"\xff" * 15)
# Numbers that Python's encoder may write otherwise than RFC 8785: those with an exponent, and long ones.
_MAYBE_REWRITTEN = (b"0e", b"0" * 16)
# Only a number literal of 16 or more characters (DBL_DIG in C is 15), or one with an exponent of -100 or less, can
# have another value than the JCS text of its double.
_NUMBER_CHARACTERS = bytes.maketrans(b"123456789.eE+-", b"0" * 14)
_LONG, _TINY = b"0" * 16, b"e-000"
_MAYBE_TWO_UNITS = (b"\xff", b"\\ud")
_ZEROS_AFTER_POINT = re.compile(rb"\.0(?![1-9])")
_BAD_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2})")
_OWS = " \t"  # optional white space in the value of a header (RFC 9110)
_NO_ENCODING = ("", "identity")
_ZERO = re.compile(r"-?[0.]+[eE]")
_WRITE_SORTED = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"), sort_keys=True).encode


class InvalidArgs(ValueError):
    """The arguments of a request have no hash. The message says why.

    A body has none if it is not strict JSON, has a Content-Encoding or holds a number without a JCS form. A query or a
    form has none if it is not percent-encoded UTF-8.
    """


class RequestArgs(NamedTuple):
    """The arguments that a request carries.

    value: the parsed JSON body; the query or form as an object; or the bytes of a body of another type. In the object
        of a query or form, a name has a string, a repeated name an array of strings.
    hash: lower-case hex SHA-256, as `argsHash` in an intent.
    """

    value: "Json | bytes"
    hash: str


def args_hash(args: Json) -> str:
    """Return the `argsHash` of arguments: lower-case hex SHA-256 of their RFC 8785 form (contract §3).

    Raises NotCanonical, a ValueError, for arguments without such a form, such as an integer beyond a double's
    precision.
    """
    return sha256(canonical_json(args)).hexdigest()


NO_ARGS_HASH = args_hash({})


def request_args(
    body: bytes = b"", content_type: str | None = None, query: str = "", *, content_encoding: str | None = None
) -> RequestArgs:
    """Return the arguments of a request and their hash (contract §3).

    They are the JSON body if there is one; else the query (or a body of type application/x-www-form-urlencoded) as an
    object; else `{}`. A body of any other type is hashed as its raw bytes.

    query: the raw query, without the question mark.
    content_encoding: the value of `Content-Encoding`. A body with a value other than `identity` has no hash, because
        the handler may read other bytes than `body`.

    Raises InvalidArgs.
    """
    if not body:
        return _hash_named_values(query) if query else RequestArgs({}, NO_ARGS_HASH)
    if content_encoding and content_encoding.strip(_OWS).lower() not in _NO_ENCODING:
        raise InvalidArgs("the body has a Content-Encoding: send it plain")
    media_type = (content_type or "").partition(";")[0].strip(_OWS).lower()
    if is_json_type(media_type):
        return _hash_json_body(body)
    if media_type == "application/x-www-form-urlencoded":
        return _hash_named_values(body.decode("latin-1"))
    return RequestArgs(body, sha256(body).hexdigest())


def member_args(body: bytes, name: str, value: Json) -> RequestArgs:
    """Return the member `name` of a larger JSON body as arguments, hashed as if they were the whole body of a request.

    The text of the member is needed as well as its value, because a parsed number does not show whether its text was
    exact. Use this to mint an intent from a request that holds the arguments.

    body: an object with this member, which `parse_json` accepts.
    value: the value that `parse_json` returned for the member.

    Raises InvalidArgs.
    """
    return _hash_parsed_body(member_text(body.decode("utf-8"), name).encode("utf-8"), value)


def _hash_json_body(body: bytes) -> RequestArgs:
    try:
        value = parse(body)
    except InvalidJson as fault:
        raise InvalidArgs(f"the body is not strict JSON: {fault}") from None
    return _hash_parsed_body(body, value)


def _hash_parsed_body(body: bytes, value: Json) -> RequestArgs:
    """Hash a body by the fastest way that is exact for it.

    value: the value that `parse` returned for the body.
    """
    try:
        outline = body.translate(_OUTLINE)
        if _contains_any(_MAYBE_REWRITTEN, outline):
            if _TINY in outline or _LONG in body.translate(_NUMBER_CHARACTERS):
                json.loads(body, parse_float=_parse_exact_double)  # only checks the numbers: `value` is parsed already
        elif not _contains_any(_MAYBE_TWO_UNITS, outline) and not _has_zeros_after_point(body):
            # For such a body, Python's own encoder, which is faster, writes numbers and sorts names as RFC 8785 wants.
            return RequestArgs(value, sha256(_WRITE_SORTED(value).encode()).hexdigest())
        return RequestArgs(value, args_hash(value))
    except NotCanonical as fault:
        raise InvalidArgs(f"the body has no canonical form: {fault}") from None


def _has_zeros_after_point(body: bytes) -> bool:
    return body.find(b".0") >= 0 and _ZEROS_AFTER_POINT.search(body) is not None


def _contains_any(signs: tuple[bytes, bytes], outline: bytes) -> bool:
    # With `in`, Python first takes the bytes for a number, and raises and drops a TypeError.
    return outline.find(signs[0]) >= 0 or outline.find(signs[1]) >= 0


def _parse_exact_double(literal: str) -> float:
    """Return the double of a number literal; raise NotCanonical if its JCS text has another value than the literal.

    Otherwise the different numbers 0.1 and 0.10000000000000000001 would share one hash.
    """
    double = float(literal)
    # No other short literal has the same double, unless it has the same value.
    if len(literal) <= sys.float_info.dig and sys.float_info.min < abs(double) < inf:
        return double
    if repr(double) == literal:  # the literal is the shortest text of its double, as most programs write it
        return double
    try:
        is_equal = Decimal(number_text(double)) == Decimal(literal)
    except InvalidOperation:  # an exponent of 19 digits is too large for Decimal, and harmless only if the number is 0
        is_equal = _ZERO.match(literal) is not None
    if not is_equal:
        raise NotCanonical("a number is finer than a double carries")
    return double


def _hash_named_values(text: str) -> RequestArgs:
    """Hash a query or a form as an object; `+` is a space, a name without `=` has the empty string as its value."""
    values: dict[str, Json] = {}
    try:
        if not text.isascii() or not is_percent_encoded(text):
            raise ValueError
        # Strict, because with replacement characters different bytes would share one hash.
        for name, value in parse_qsl(text, keep_blank_values=True, errors="strict"):
            _append(values, name, value)
        return RequestArgs(values, args_hash(values))
    except ValueError:
        raise InvalidArgs("the query or form is not percent-encoded UTF-8") from None


def is_percent_encoded(text: str) -> bool:
    """Return whether two hex digits follow each `%`.

    Parsers read any other `%` in different ways: some read `%u002e` as a dot.
    """
    return "%" not in text or _BAD_ESCAPE.search(text) is None


def _append(values: dict[str, Json], name: str, value: str) -> None:
    earlier = values.get(name)
    if isinstance(earlier, list):
        earlier.append(value)
    elif earlier is None:
        values[name] = value
    else:
        values[name] = [earlier, value]
