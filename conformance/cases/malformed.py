"""Headers that cannot be read.

All signatures are right, except in vectors about signatures, so that only strict parsing refuses the header. A verifier
that accepts one of these headers can read it differently from another program.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from .accepted import nested_arrays, nested_objects
from .build_vectors import (
    EXPIRES,
    ISSUED,
    Vector,
    base64url,
    compact_json,
    decode_header,
    envelope,
    header,
    payload_of_remainder,
    reject,
    signature,
    v1,
    v2,
)

reject_malformed = partial(reject, "malformed")
PLAIN = header(v2())
TEXT = compact_json(v2())


def vectors() -> Iterator[Vector]:
    yield from base64url_values()
    yield from payload_texts()
    yield from envelope_texts()
    yield from members()


def base64url_values() -> Iterator[Vector]:
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    whole, one_short, two_short = (header(payload_of_remainder(remainder)) for remainder in (0, 3, 2))
    with_underscore, with_hyphen = header(v2(odd="???")), header(v2(odd=">>>"))
    assert ("_" in with_underscore, "-" in with_underscore) == (True, False)
    assert ("_" in with_hyphen, "-" in with_hyphen) == (False, True)
    for name, description, value in (
        ("white-space", "A space.", " "),
        ("impossible-length", "A length that no base64 has.", whole + "A"),
        ("only-padding", "Nothing but padding.", "===="),
        ("other-alphabet", "A slash, of the alphabet of plain base64.", with_underscore.replace("_", "/")),
        ("other-alphabet-plus", "A plus sign, of the alphabet of plain base64.", with_hyphen.replace("-", "+")),
        ("half-padded", "One = where two belong.", two_short + "="),
        ("over-padded", "Two = where one belongs.", one_short + "=="),
        ("padded-without-need", "A whole group of padding.", whole + "===="),
        ("bits-left-over", "The last character has bits that belong to no byte.", _set_lowest_bit(one_short, last)),
        ("more-bits-left-over", "As before, with 4 such bits.", _set_lowest_bit(two_short, last)),
        ("line-break-inside", "A line break inside.", f"{PLAIN[:76]}\n{PLAIN[76:]}"),
        ("line-break-at-end", "A line break at the end.", f"{PLAIN}\n"),
        ("space-before", "A space before it.", f" {PLAIN}"),
        ("percent-encoded-padding", "Padding that was percent-encoded.", f"{one_short}%3D"),
        ("joined-by-a-comma", "Two headers that a proxy joined.", f"{PLAIN}, {PLAIN}"),
        ("quoted", "In quotes.", f'"{PLAIN}"'),
        ("scheme", "With a scheme.", f"Bearer {PLAIN}"),
        ("characters-outside-ascii", "A letter outside ASCII.", f"é{PLAIN}"),
        ("full-width-letter", "A letter that only looks like one of the alphabet.", f"ｅ{PLAIN[1:]}"),
        ("encoded-twice", "base64url of base64url.", base64url(PLAIN.encode())),
        ("bare-json", "JSON without base64url.", envelope(TEXT).decode()),
        ("cut-off", "Cut off at the end.", PLAIN[: len(PLAIN) // 8 * 4]),
        (
            "too-long",
            "8,196 characters, the next length after 8,192 that needs no padding.",
            _header_of_length(8196),
        ),
        ("too-long-with-padding", "8,193 characters, the last of them padding.", _header_of_length(8192) + "="),
    ):
        yield reject_malformed(name, description, value)


def _set_lowest_bit(value: str, alphabet: str) -> str:
    """Set the lowest bit of the last character; a lax decoder returns the same bytes."""
    return value[:-1] + alphabet[alphabet.index(value[-1]) + 1]


def _header_of_length(characters: int) -> str:
    value = header(v2(pad="x" * (characters // 4 * 3 - len(envelope(compact_json(v2(pad="")))))))
    assert len(value) == characters
    return value


def payload_texts() -> Iterator[Vector]:
    """Yield payloads that break a rule of strict JSON: most in an unknown member `x`, the others elsewhere."""
    for name, description, value in (
        ("nan", "NaN.", b"NaN"),
        ("infinity", "Infinity.", b"Infinity"),
        ("minus-infinity", "-Infinity.", b"-Infinity"),
        ("number-beyond-a-double", "A number beyond the range of a double.", b"1e309"),
        ("integer-beyond-a-double", "A long integer beyond the range of a double.", b"1" + b"0" * 309),
        ("integer-just-beyond-a-double", "309 digits, beyond the range of a double.", b"18" + b"0" * 307),
        ("leading-zero", "A number with a leading zero.", b"01"),
        ("plus-sign", "A number with a plus sign.", b"+1"),
        ("no-digit-before-point", "A number that begins with its point.", b".5"),
        ("no-digit-after-point", "A number that ends with its point.", b"1."),
        ("hex-number", "A hexadecimal number.", b"0x10"),
        ("high-surrogate", "Half a surrogate pair, the first, escaped.", rb'"\ud83d"'),
        ("low-surrogate", "Half a surrogate pair, the second, escaped.", rb'"\ude00"'),
        ("surrogates-swapped", "A surrogate pair in the wrong order.", rb'"\ude00\ud83d"'),
        ("surrogate-and-letter", "Half a surrogate pair before another escape.", rb'"\ud83d\u0041"'),
        ("surrogate-in-name", "Half a surrogate pair in a name.", rb'{"\uDC00":1}'),
        ("surrogate-bytes", "Half a surrogate pair as bytes: no UTF-8.", b'"\xed\xa0\xbd"'),
        ("surrogate-pair-bytes", "A surrogate pair as bytes (CESU-8): no UTF-8.", b'"\xed\xa0\xbd\xed\xb8\x80"'),
        ("latin-1", "Latin-1: no UTF-8.", b'"f\xfcr"'),
        ("overlong", "An overlong form: no UTF-8.", b'"\xc0\xaf"'),
        ("nul-escaped", "NUL in a string.", rb'"a\u0000b"'),
        ("nul-in-name", "NUL in a name.", rb'{"a\u0000b":1}'),
        ("nul-raw", "NUL as a byte.", b'"a\x00b"'),
        ("control-character", "A line break inside a string.", b'"a\nb"'),
        ("unknown-escape", "An escape that JSON does not have.", rb'"\x41"'),
        ("short-escape", "An escape with three digits.", rb'"\u041"'),
        ("single-quotes", "Single quotes.", b"'a'"),
        ("comment", "A comment.", b"1/**/"),
        ("trailing-comma", "A comma before a closing bracket.", b"[1,]"),
        ("no-break-space", "White space that JSON does not have.", b"\xc2\xa01"),
        ("vertical-tab", "White space that JSON does not have.", b"\x0b1"),
        ("capital-true", "True of Python.", b"True"),
        ("undefined", "undefined of JavaScript.", b"undefined"),
        ("no-value", "A name without a value.", b""),
        ("too-deep", "65 levels, the envelope being the first.", compact_json({"x": nested_arrays(63)})[5:-1]),
        (
            "too-deep-with-scalar",
            "65 levels, the innermost with a scalar.",
            compact_json({"x": nested_arrays(63, 1)})[5:-1],
        ),
        (
            "too-deep-with-siblings",
            "65 levels, with shallow ones first.",
            compact_json({"x": [[], nested_arrays(62)]})[5:-1],
        ),
        ("too-deep-of-objects", "65 levels of objects.", compact_json({"x": nested_objects(63, 1)})[5:-1]),
        ("duplicate-within", "The same name twice, further down.", b'{"a":1,"b":{"c":1,"c":1}}'),
        ("duplicate-escaped", "The same name twice, one of them escaped.", rb'{"a":1,"\u0061":1}'),
        ("duplicate-empty", "The empty name twice.", b'{"":1,"":2}'),
    ):
        yield reject_malformed(f"json-{name}", description, base64url(envelope(TEXT[:-1] + b',"x":' + value + b"}")))
    for name, description, text in (
        ("duplicate-member", "sub twice, with different values.", TEXT[:-1] + b',"sub":"user-1"}'),
        (
            "duplicate-member-first",
            "sub twice; a parser that keeps the last one reads user-42, the usual value.",
            b'{"sub":"user-1",' + TEXT[1:],
        ),
        ("duplicate-member-equal", "sub twice, with the same value.", TEXT[:-1] + b',"sub":"user-42"}'),
        ("duplicate-member-escaped", "sub twice, one of them escaped.", TEXT[:-1] + rb',"s\u0075b":"user-1"}'),
        ("double-comma", "Two commas.", TEXT.replace(b",", b",,", 1)),
        ("bare-name", "A name without quotes.", TEXT.replace(b'"v"', b"v", 1)),
        ("unclosed", "The payload lacks its last bracket.", TEXT[:-1]),
    ):
        yield reject_malformed(f"json-{name}", description, base64url(envelope(text)))


def envelope_texts() -> Iterator[Vector]:
    good, signature_bytes = envelope(TEXT), signature(TEXT).encode()
    payload, signature_ = b'"payload":' + TEXT, b'"signature":"' + signature_bytes + b'"'
    text = b'"{}"'
    for name, description, raw in (
        ("byte-order-mark", "A byte order mark before it.", b"\xef\xbb\xbf" + good),
        ("utf-16", "UTF-16.", good.decode().encode("utf-16-le")),
        ("text-after-it", "Text after the JSON.", good + b"{}"),
        ("nul-after-it", "NUL after the JSON.", good + b"\x00"),
        ("array", "An array.", b"[" + TEXT + b',"' + signature_bytes + b'"]'),
        ("string", "A string.", b'"envelope"'),
        ("null", "null.", b"null"),
        ("empty-object", "Neither of its members.", b"{}"),
        ("no-payload", "No payload.", b"{" + signature_ + b"}"),
        ("no-signature", "No signature.", b"{" + payload + b"}"),
        ("extra-member", "A third member.", good[:-1] + b',"kid":"1"}'),
        ("payload-twice", "Two payloads.", b"{" + payload + b"," + payload + b"," + signature_ + b"}"),
        ("payload-twice-escaped", "Two payloads, one name escaped.", good[:-1] + rb',"p\u0061yload":{}}'),
        ("signature-twice", "Two signatures.", good[:-1] + b"," + signature_ + b"}"),
        ("payload-null", "The payload is null.", envelope(b"null")),
        ("payload-array", "The payload is an array.", envelope(b"[" + TEXT + b"]")),
        ("payload-string", "The payload is a string, of JSON.", envelope(text)),
        ("payload-number", "The payload is a number.", envelope(b"2")),
        ("name-in-other-case", "Names of the envelope are exact.", good.replace(b"payload", b"Payload")),
        ("signature-null", "The signature is null.", b"{" + payload + b',"signature":null}'),
        ("signature-number", "The signature is a number.", b"{" + payload + b',"signature":1}'),
        ("signature-empty", "The signature is empty.", b"{" + payload + b',"signature":""}'),
        ("signature-short", "63 hex digits.", good[:-3] + b'"}'),
        ("signature-long", "65 hex digits.", good[:-2] + b'0"}'),
        ("signature-line-break", "An escaped line break after the signature.", good[:-2] + rb'\n"}'),
        ("signature-no-hex", "64 characters, one of them no hex digit.", good[:-3] + b'g"}'),
        (
            "signature-prefixed",
            "With the name of the algorithm.",
            good.replace(signature_bytes, b"sha256=" + signature_bytes),
        ),
        (
            "signature-base64",
            "In base64.",
            good.replace(signature_bytes, base64url(bytes.fromhex(signature_bytes.decode())).encode()),
        ),
        ("signature-full-width", "A full-width digit.", good[:-3] + '１"}'.encode()),
        ("empty-payload-text", "No value for the payload.", good.replace(TEXT, b"")),
    ):
        yield reject_malformed(f"envelope-{name}", description, base64url(raw))
    yield reject_malformed("random-bytes", "Bytes that are no text.", base64url(bytes(range(128, 255))))
    assert decode_header(PLAIN) == good


def members() -> Iterator[Vector]:
    """Yield payloads with members that are missing or of the wrong form; the signature is right."""
    for name in ("toolCallId", "tenantId", "sub", "aud", "operation", "argsHash", "nonce"):
        yield from _wrong_strings(name, "version-2", v2)
    for name in ("toolCallId", "tenantId", "method", "path"):
        yield from _wrong_strings(name, "version-1", v1)
    for version, payload in (("version-2", v2), ("version-1", v1)):
        for name in ("issuedAt", "expiresAt"):
            for kind, value in (("missing", ...), ("string", str(ISSUED)), ("null", None), ("boolean", True)):
                description = f"{name} is no number: {kind}."
                yield reject_malformed(f"{version}-{name}-{kind}", description, header(payload(**{name: value})))
        unit_description = "issuedAt and expiresAt are in different units."
        yield reject_malformed(
            f"{version}-issued-in-milliseconds", unit_description, header(payload(issuedAt=ISSUED * 1000))
        )
        yield reject_malformed(
            f"{version}-expires-in-milliseconds", unit_description, header(payload(expiresAt=EXPIRES * 1000))
        )
        meeting = payload(issuedAt=99_999_999_999, expiresAt=100_000_000_000)
        description = "issuedAt is the highest value in seconds, expiresAt the lowest in milliseconds."
        yield reject_malformed(f"{version}-units-meet", description, header(meeting), verifier={"now": 99_999_999_999})
    for kind, value in (("null", None), ("string", "true"), ("number", 1)):
        step_up = v2(requiresStepUp=value)
        yield reject_malformed(
            f"step-up-{kind}", f"requiresStepUp is no boolean: {kind}.", header(step_up), stepUp=True
        )
    for kind, value in (("null", None), ("number", 42)):
        yield reject_malformed(f"user-{kind}", f"userId is no string: {kind}.", header(v1(userId=value)))


def _wrong_strings(name: str, version: str, payload: type[dict] | object) -> Iterator[Vector]:
    for kind, value in (("missing", ...), ("empty", ""), ("null", None), ("number", 42), ("array", ["a"])):
        value = header(payload(**{name: value}))
        yield reject_malformed(f"{version}-{name}-{kind}", f"{name} is no string, or an empty one: {kind}.", value)
