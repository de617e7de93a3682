"""Requests and the hashes of their arguments (contract §3, "Arguments")."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .build_vectors import BODY, BODY_CANONICAL, encode_base64, sha256

Case = dict[str, Any]

JSON, FORM = "application/json", "application/x-www-form-urlencoded"


def cases() -> Iterator[Case]:
    yield from json_bodies()
    yield from content_types()
    yield from content_encodings()
    yield from queries_and_forms()
    yield from raw_bodies()
    yield from without_hash()


def hashed_case(
    name: str,
    description: str,
    canonical: str,
    body: bytes = b"",
    content_type: str | None = None,
    query: str = "",
    encoding: str | None = None,
) -> Case:
    """Return a case that is hashed in canonical form.

    canonical: the RFC 8785 form of the arguments.
    """
    case = _request(name, description, body, content_type, query, encoding)
    return {**case, "canonical": canonical, "hash": sha256(canonical)}


def raw_case(name: str, description: str, body: bytes, content_type: str | None, encoding: str | None = None) -> Case:
    return {**_request(name, description, body, content_type, "", encoding), "hash": sha256(body)}


def refused_case(
    name: str,
    description: str,
    body: bytes = b"",
    content_type: str | None = JSON,
    query: str = "",
    encoding: str | None = None,
) -> Case:
    return {**_request(name, description, body, content_type, query, encoding), "hash": None}


def _request(
    name: str, description: str, body: bytes, content_type: str | None, query: str, encoding: str | None
) -> Case:
    request = {
        "bodyBase64": encode_base64(body),
        "contentType": content_type,
        "contentEncoding": encoding,
        "query": query,
    }
    return {"id": name, "description": description, "request": request}


def json_bodies() -> Iterator[Case]:
    yield hashed_case("the-example", "The example of the contract.", BODY_CANONICAL, BODY, JSON)
    yield hashed_case("empty-object", "An empty object.", "{}", b" {}\n", JSON)
    yield hashed_case("empty-array", "An empty array is not an empty object.", "[]", b"[]", JSON)
    yield hashed_case("null", "null.", "null", b"null", JSON)
    yield hashed_case("string", "A bare string.", '"a"', b'"a"', JSON)
    yield hashed_case("number", "A bare number.", "100", b"1e2", JSON)
    yield hashed_case("boolean", "false is not absent.", "false", b"false", JSON)
    yield hashed_case("null-member", "A member whose value is null is kept.", '{"a":null}', b'{"a":null}', JSON)
    yield hashed_case("escapes", "Escaped or not, the same text.", '{"ü":"😀/"}', rb'{"\u00fc":"\uD83D\uDE00\/"}', JSON)
    body = '{"😀":1,"\ufb33":2}'
    yield hashed_case("utf-16-order", "Names sort by UTF-16 units.", body, '{"\ufb33":2,"😀":1}'.encode(), JSON)
    yield hashed_case(
        "numbers", "Numbers in other notations.", "[0,1,1.5,1e+21,1e-7]", b"[-0,1.0,15E-1,1e21,0.0000001]", JSON
    )
    escaped_body = rb'{"\ufb33":2,"\uD83D\ude00":1}'
    yield hashed_case(
        "utf-16-order-escaped", "Escaped names sort by the characters that they stand for.", body, escaped_body, JSON
    )
    huge = b"[0e9999999999999999999,-0.0E-9999999999999999999]"
    yield hashed_case("zero-with-a-long-exponent", "Zero is zero whatever its exponent.", "[0,0]", huge, JSON)
    zeros = b"[25.0,-1.00,0.0,0.05,0.0010,0.00001,10.010,1000000000000000.0]"
    canonical = "[25,-1,0,0.05,0.001,0.00001,10.01,1000000000000000]"
    yield hashed_case("zeros-after-the-point", "Numbers with zeros after the point.", canonical, zeros, JSON)
    short = b'{"price":25.0,"rates":[-1.00,0.0,-0.0,7.10]}'
    canonical = '{"price":25,"rates":[-1,0,0,7.1]}'
    yield hashed_case("zeros-after-the-point-alone", "A few short numbers.", canonical, short, JSON)
    yield hashed_case(
        "large-exact-integer",
        "A large integer that a double carries.",
        "[9007199254740994]",
        b"[9007199254740994]",
        JSON,
    )
    largest = "[9007199254740992]"
    yield hashed_case("two-to-the-53", "2^53: a double holds exactly this number.", largest, largest.encode(), JSON)
    below = "[9007199254740991]"
    yield hashed_case("below-two-to-the-53", "2^53 - 1.", below, below.encode(), JSON)
    yield hashed_case("deepest", "128 levels.", "[" * 128 + "]" * 128, b"[" * 128 + b"]" * 128, JSON)
    scalar = "[" * 128 + "1" + "]" * 128
    yield hashed_case("deepest-with-scalar", "A scalar is no level.", scalar, scalar.encode(), JSON)
    members = '{"a":' * 128 + '"x"' + "}" * 128
    yield hashed_case("deepest-of-objects", "128 levels of objects.", members, members.encode(), JSON)
    yield hashed_case("query-beside-body", "With a body, the query is not hashed.", '{"a":1}', b'{"a":1}', JSON, "b=2")


def content_types() -> Iterator[Case]:
    for name, content_type in (
        ("charset", "application/json; charset=utf-8"),
        ("upper-case", "Application/JSON"),
        ("text-json", "text/json"),
        ("suffix", "application/vnd.api+json"),
        ("suffix-and-parameter", "application/merge-patch+json ;q=1"),
        ("spaces", "  application/json  "),
        ("tabs", "\tapplication/json\t; charset=utf-8"),
        ("suffix-only", "application/+json"),
        ("suffix-twice", "application/json+json"),
        ("suffix-of-any-type", "image/svg+json"),
        ("suffix-of-text", "text/x+json"),
        ("suffix-and-no-slash", "+json"),
        ("suffix-upper-case", "Application/HAL+JSON"),
        ("suffix-in-a-list", "text/plain, application/hal+json"),
    ):
        yield hashed_case(f"type-{name}", f"JSON: {content_type}", '{"a":1}', b'{ "a": 1 }', content_type)
    for name, content_type in (
        ("ndjson", "application/x-ndjson"),
        ("json5", "application/json5"),
        ("json-parameter", "text/plain; a=application/json"),
        ("jsonp", "application/javascript"),
        ("plain", "text/plain"),
        ("no-slash", "json"),
        ("x-json", "application/x-json"),
        ("list", "application/json, application/json"),
        ("suffix-before-another", "application/hal+json+zip"),
        ("suffix-longer", "application/hal+jsonp"),
        ("suffix-in-parameter", "text/plain;x=a/b+json"),
        ("space-within", "application/ json"),
        ("no-break-space", "application/json\u00a0"),
        ("next-line", "application/json\u0085"),
        ("form-suffix", "application/x-www-form-urlencoded2"),
        ("multipart", "multipart/form-data; boundary=x"),
        ("empty", ""),
        ("absent", None),
    ):
        yield raw_case(f"raw-type-{name}", f"Not JSON: {content_type}", b'{ "a": 1 }', content_type)


GZIPPED = bytes.fromhex("1f8b0800000000000203ab56504a54b2523054a8050060bb1e660a000000")
"""`{ "a": 1 }`, compressed once and for all: other versions of zlib give other bytes."""


def content_encodings() -> Iterator[Case]:
    """Yield requests with a Content-Encoding, and one with a compressed body and no Content-Encoding.

    A body with a Content-Encoding has a hash only if that is `identity` or empty.
    """
    body = b'{ "a": 1 }'
    for name, encoding in (
        ("identity", "identity"), ("upper-case", "IDENTITY"), ("spaces", " identity\t"), ("empty", ""),
    ):  # fmt: skip
        description = f"No encoding: {encoding}"
        yield hashed_case(f"encoding-{name}", description, '{"a":1}', body, JSON, encoding=encoding)
        yield raw_case(f"raw-encoding-{name}", description, body, "text/plain", encoding)
    for name, encoding in (
        ("gzip", "gzip"), ("upper-case", "GZIP"), ("deflate", "deflate"), ("brotli", "br"), ("unknown", "aws-chunked"),
        ("charset", "utf-8"), ("list", "identity, gzip"), ("identities", "identity, identity"),
    ):  # fmt: skip
        description = f"Another encoding than identity: {encoding}"
        yield refused_case(f"none-encoding-{name}", description, body, JSON, encoding=encoding)
    for name, content_type in (("json", JSON), ("form", FORM), ("raw", "application/octet-stream"), ("no-type", None)):
        yield refused_case(f"none-gzip-{name}", "A compressed body.", GZIPPED, content_type, encoding="gzip")
    yield raw_case("gzip-as-a-type", "Compressed bytes, not said to be encoded.", GZIPPED, "application/gzip")
    yield hashed_case("encoding-without-body", "Without a body nothing is encoded.", "{}", encoding="gzip")
    query = '{"a":"1"}'
    yield hashed_case("encoding-and-query", "Without a body the query counts.", query, query="a=1", encoding="gzip")


def queries_and_forms() -> Iterator[Case]:
    for name, description, text, canonical in (
        ("one", "One name.", "a=1", '{"a":"1"}'),
        ("sorted", "Names sort.", "b=2&a=1", '{"a":"1","b":"2"}'),
        ("repeated", "A repeated name is an array, in order.", "a=2&b=x&a=1&a=3", '{"a":["2","1","3"],"b":"x"}'),
        ("repeated-equal", "An array although the values are equal.", "a=1&a=1", '{"a":["1","1"]}'),
        ("empty-value", "An empty value.", "a=", '{"a":""}'),
        ("no-equals-sign", "A name without =.", "a&b=1", '{"a":"","b":"1"}'),
        ("empty-and-not", "A name with and without =.", "a&a=", '{"a":["",""]}'),
        ("equals-in-value", "Only the first = separates a name from its value.", "a=b=c", '{"a":"b=c"}'),
        ("plus", "+ is a space, in names too.", "a+b=c+d", '{"a b":"c d"}'),
        ("encoded-plus", "%2B is a plus sign.", "a=1%2B1", '{"a":"1+1"}'),
        ("encoded-separators", "Encoded separators separate nothing.", "a=1%262%3D3%25", '{"a":"1&2=3%"}'),
        ("utf-8", "Percent-encoded UTF-8.", "n=f%C3%BCr+%f0%9f%98%80", '{"n":"für 😀"}'),
        ("semicolon", "A semicolon separates nothing.", "a=1;b=2", '{"a":"1;b=2"}'),
        ("brackets", "Brackets mean nothing.", "a[]=1&a[]=2", '{"a[]":["1","2"]}'),
        ("digits", "Values stay strings.", "10=1&9=true", '{"10":"1","9":"true"}'),
        ("encoded-once", "Decoded once.", "a=%2541", '{"a":"%41"}'),
        (
            "names-of-a-language",
            "Names that mean something in a programming language are ordinary.",
            "__proto__=1&toString=2",
            '{"__proto__":"1","toString":"2"}',
        ),
        ("byte-order-mark", "A byte order mark stays.", "a=%EF%BB%BFb", '{"a":"\ufeffb"}'),
    ):
        yield hashed_case(f"query-{name}", description, canonical, query=text)
        yield hashed_case(f"form-{name}", description, canonical, text.encode(), FORM)
    yield hashed_case("no-arguments", "Neither body nor query.", "{}")
    yield hashed_case("no-body-of-a-type", "A type without a body.", "{}", b"", JSON)
    yield hashed_case("query-and-type", "A type without a body, and a query.", '{"a":"1"}', b"", JSON, "a=1")
    yield hashed_case("form-type-parameter", "A form with a parameter.", '{"a":"1"}', b"a=1", f"{FORM}; charset=UTF-8")
    yield hashed_case("query-beside-form", "With a body, the query is not hashed.", '{"a":"1"}', b"a=1", FORM, "b=2")


def raw_bodies() -> Iterator[Case]:
    yield raw_case("raw-bytes", "Any bytes.", bytes(range(256)), "application/octet-stream")
    yield raw_case("raw-xml", "Text of another type.", "<a>ü</a>".encode(), "application/xml")
    yield raw_case("raw-white-space", "White space is a body.", b" ", "text/plain")


def without_hash() -> Iterator[Case]:
    """Yield requests that are `args-mismatch`, whatever was signed."""
    for name, description, body in (
        ("white-space", "White space is a body, and no JSON.", b" "),
        ("syntax", "No JSON.", b"{a: 1}"),
        ("cut-off", "Cut off.", BODY[:-1]),
        ("two-values", "Two values.", b"{}{}"),
        ("byte-order-mark", "A byte order mark.", b"\xef\xbb\xbf{}"),
        ("latin-1", "No UTF-8.", b'{"a":"f\xfcr"}'),
        ("utf-16", "UTF-16.", '{"a":1}'.encode("utf-16")),
        ("duplicate", "The same name twice.", b'{"a":1,"a":1}'),
        ("duplicate-deep", "The same name twice, further down.", rb'[{"b":{"a":1,"\u0061":2}}]'),
        ("lone-surrogate", "Half a surrogate pair.", rb'{"a":"\udc00"}'),
        ("nul", "NUL in a string.", rb'{"a":"\u0000"}'),
        ("nan", "NaN.", b"[NaN]"),
        ("overflow", "A number beyond a double.", b"[1e400]"),
        ("long-integer", "An integer beyond a double.", b"[" + b"9" * 400 + b"]"),
        ("unsafe-integer", "An integer that a double rounds.", b"[9007199254740993]"),
        ("unsafe-fraction", "A fraction that a double rounds.", b"[0.10000000000000000001]"),
        ("underflow", "A number so small that a double makes it 0.", b"[1e-400]"),
        ("long-exponent", "An exponent that no decimal library holds.", b"[1e-99999999999999999999]"),
        ("too-deep", "129 levels.", b"[" * 129 + b"]" * 129),
        ("too-deep-with-scalar", "129 levels.", b"[" * 129 + b"1" + b"]" * 129),
        ("too-deep-of-objects", "129 levels.", b'{"a":' * 129 + b"1" + b"}" * 129),
        ("very-deep", "Nesting so deep that a recursive parser fails.", b"[" * 20_000),
    ):
        yield refused_case(f"none-{name}", description, body)
    for name, description, text in (
        ("latin-1", "Percent-encoded Latin-1.", "a=f%FCr"),
        ("overlong", "Percent-encoded, an overlong form.", "a=%C0%AF"),
        ("surrogate", "Percent-encoded, half a surrogate pair.", "a=%ED%A0%BD"),
        ("name", "A name that is no UTF-8.", "%FF=1"),
        ("no-hex", "% and no hex digits.", "a=%zz"),
        ("half-hex", "% and one hex digit.", "a=%4x"),
        ("lone-percent", "A lone %.", "a=100%&b=1"),
        ("percent-at-end", "% at the end.", "a=100%"),
        ("percent-in-name", "A lone % in a name.", "100%=1"),
        ("escaped-unit", "An escaped unit of UTF-16.", "a=%u0041"),
    ):
        yield refused_case(f"none-query-{name}", description, content_type=None, query=text)
        yield refused_case(f"none-form-{name}", description, text.encode(), FORM)
    raw = "a=für"
    yield refused_case(
        "none-query-bytes", "A query with characters that are not encoded.", content_type=None, query=raw
    )
    yield refused_case("none-form-bytes", "A form with bytes that are not encoded.", raw.encode(), FORM)
