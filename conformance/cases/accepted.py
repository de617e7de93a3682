"""Requests that must pass: a verifier must not be stricter than the contract."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .build_vectors import (
    AUDIENCE,
    BODY,
    DAY,
    EXPIRES,
    FOREIGN_SECRET,
    ISSUED,
    NEXT_SECRET,
    NOW,
    OTHER_WORKSPACE,
    SECRET,
    WORKSPACE,
    Vector,
    accept,
    base64url,
    compact_json,
    envelope,
    header,
    payload_of_remainder,
    sha256,
    signature,
    v1,
    v2,
    v2_without_args,
)

NO_BODY = {"body": b"", "contentType": None}


def vectors() -> Iterator[Vector]:
    yield from versions_and_times()
    yield from envelopes()
    yield from workspaces_and_nonces()
    yield from operations()
    yield from arguments()


def versions_and_times() -> Iterator[Vector]:
    yield accept("version-2", "Every member of version 2, signed as it is sent.", v2())
    yield accept(
        "version-2-as-fraction", "2.0 is the number 2.", v2(v=2), header(compact_json(v2()).replace(b"2", b"2.0", 1))
    )
    yield accept("version-1", "Every member of version 1. It binds method and path only.", v1(), query="any=1")
    yield accept("version-1-anonymous", "Version 1 without userId: an anonymous call.", v1(userId=...))
    yield accept("version-1-empty-user", "userId is a string; it may be empty.", v1(userId=""))
    yield accept("version-1-any-body", "Version 1 binds no arguments.", v1(), body=b"{not json")
    last = {"v1Until": ISSUED + 10}
    yield accept("version-1-last-moment", "now is exactly the end of the window for version 1.", v1(), verifier=last)
    past_window = {"v1Until": ISSUED - DAY}
    yield accept("version-2-after-the-window", "The window limits version 1 only.", v2(), verifier=past_window)
    yield accept("version-2-demanded", "The route demands version 2.", v2(), verifier={"minimumVersion": 2})
    yield accept("unknown-members", "Unknown members are ignored.", v2(reason={"a": [1, None, True]}, ticket=""))
    proto = v2(__proto__={"sub": "somebody"}, constructor=1, toString="x")
    yield accept(
        "names-of-a-language", "Unknown members may have names that mean something in a programming language.", proto
    )
    yield accept("unknown-members-version-1", "Unknown members are ignored in version 1 too.", v1(audience="x", V=3))
    milliseconds = v2(issuedAt=ISSUED * 1000, expiresAt=EXPIRES * 1000)
    yield accept("milliseconds", "Both times in milliseconds.", milliseconds)
    for name, issued_at, expires_at, now in (
        ("first-milliseconds", 100_000_000_000, 100_000_300_000, 100_000_010),
        ("last-seconds", 99_999_999_700, 99_999_999_999.5, 99_999_999_710),
    ):
        times = v2(issuedAt=issued_at, expiresAt=expires_at)
        yield accept(name, "From 1e11 on a time is in milliseconds, below in seconds.", times, verifier={"now": now})
    yield accept("fractions", "Times may be fractions.", v2(issuedAt=ISSUED + 0.25, expiresAt=EXPIRES + 0.5))
    yield accept("last-moment", "now is exactly expiresAt.", v2(), verifier={"now": EXPIRES})
    yield accept("clock-behind", "issuedAt is exactly 60 s ahead.", v2(), verifier={"now": ISSUED - 60})
    yield accept(
        "no-lifetime", "issuedAt, expiresAt and the verifier's now are equal.", v2(issuedAt=NOW, expiresAt=NOW)
    )
    ahead = v2(issuedAt=NOW + 60, expiresAt=NOW + 60)
    yield accept("no-lifetime-ahead", "expiresAt equals issuedAt, both 60 s ahead.", ahead)
    yield accept("longest-lifetime", "Exactly 24 hours.", v2(expiresAt=ISSUED + DAY))
    shorter = {"maxLifetime": 300}
    yield accept("longest-lifetime-set-lower", "Exactly this verifier's maximum.", v2(), verifier=shorter)
    yield accept("step-up-false", "No step-up is asked for.", v2(requiresStepUp=False))
    yield accept("step-up-has-run", "Step-up is asked for and has run.", v2(requiresStepUp=True), stepUp=True)


def envelopes() -> Iterator[Vector]:
    text = compact_json(v2())
    signature_text = signature(text)
    for remainder, padding in ((3, "="), (2, "==")):
        payload = payload_of_remainder(remainder)
        name = f"padded-by-{len(padding)}"
        yield accept(name, "Right padding is accepted.", payload, header(payload) + padding)
    upper = base64url(b'{"payload":%b,"signature":"%b"}' % (text, signature_text.upper().encode()))
    yield accept("upper-case-signature", "The signature's hex digits may be in upper case.", v2(), upper)
    swapped_header = base64url(b'{"signature":"%b","payload":%b}' % (signature_text.encode(), text))
    yield accept("signature-first", "The members of the envelope may stand in any order.", v2(), swapped_header)
    spaced_header = base64url(b' {\n"payload" :\t%b ,\r\n"signature" : "%b" }\n' % (text, signature_text.encode()))
    yield accept(
        "spaces-in-envelope", "White space around the payload is no part of what was signed.", v2(), spaced_header
    )
    escaped_header = base64url(b'{"p\\u0061yload":%b,"\\u0073ignature":"%b"}' % (text, signature_text.encode()))
    yield accept("escaped-envelope-names", "Names of the envelope may be escaped.", v2(), escaped_header)
    inner = v2(trap='"payload":{"v":2},"signature":"' + "0" * 64 + '"')
    yield accept("envelope-inside-a-string", "A string of the payload looks like an envelope.", inner)
    loose = text.replace(b'"sub":"user-42"', b'"sub" : "\\u0075ser\\u002d42"')
    yield accept("signed-as-sent", "Spaces and needless escapes, signed as they are sent.", v2(), header(loose))
    largest = v2(pad="x" * (6144 - len(envelope(compact_json(v2(pad=""))))))
    assert len(header(largest)) == 8192
    yield accept("largest-header", "A header value of exactly 8,192 characters.", largest)
    deepest = v2(deep=nested_arrays(62))
    yield accept("deepest-json", "Exactly 64 levels of JSON, the envelope being the first.", deepest)
    for name, value in SCALARS.items():
        description = f"64 levels of arrays and objects, the innermost with a scalar, which is no level: {name}."
        yield accept(f"deepest-json-with-{name}", description, v2(deep=nested_arrays(62, value)))
    members = v2(deep=nested_objects(62, "x"))
    yield accept("deepest-json-of-objects", "64 levels of objects, the innermost with a string.", members)
    siblings = v2(deep=[[], 1, {"a": [2]}, nested_arrays(61, "x")])
    yield accept("deepest-json-with-siblings", "64 levels, and arrays and objects beside them.", siblings)
    brackets = v2(sub="[" * 70 + "{" * 70)
    yield accept("brackets-in-a-string", "Brackets inside a string are no levels.", brackets)
    tall = v2(sub='für 😀 \u2028 \\ " / \b\f\n\r\t\x1f')
    yield accept("any-characters", "Characters outside ASCII, and those that have to be escaped.", tall)


SCALARS: dict[str, Any] = {"string": "x", "number": 1, "boolean": False, "null": None}


def nested_arrays(levels: int, *innermost: Any) -> list:
    """Return nested arrays with this number of levels; the innermost contains `innermost`."""
    value = list(innermost)
    for _ in range(levels - 1):
        value = [value]
    return value


def nested_objects(levels: int, innermost: Any) -> dict:
    """Return nested objects with this number of levels; the innermost has `innermost` as its member."""
    value = {"a": innermost}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def workspaces_and_nonces() -> Iterator[Vector]:
    both = {"secrets": [NEXT_SECRET, SECRET]}
    yield accept("rotation-older-secret", "Of two secrets in force, the older one.", v2(), verifier=both)
    newer = header(v2(), secret=NEXT_SECRET)
    yield accept("rotation-newer-secret", "Of two secrets in force, the newer one.", v2(), newer, verifier=both)
    for name, secret in (
        ("secret-of-64-bytes", "gas_" + "D" * 60),
        ("secret-of-65-bytes", "gas_" + "D" * 61),
        ("secret-of-200-bytes", "gas_" + "D" * 196),
        ("secret-outside-ascii", "gas_" + "ü" * 43),
    ):
        own = {"secrets": [secret]}
        yield accept(name, "The key is the UTF-8 of the whole secret.", v2(), header(v2(), secret=secret), verifier=own)
    many = {"workspace": None, "secrets": {WORKSPACE: [NEXT_SECRET, SECRET], OTHER_WORKSPACE: [FOREIGN_SECRET]}}
    yield accept("one-of-many-workspaces", "The verifier serves many workspaces.", v2(), verifier=many)
    elsewhere = v2(tenantId=OTHER_WORKSPACE)
    its_own = header(elsewhere, secret=FOREIGN_SECRET)
    yield accept("another-of-many-workspaces", "Each is tried with its own secrets.", elsewhere, its_own, verifier=many)
    others = [[OTHER_WORKSPACE, "n-1"], [WORKSPACE, "N-1"], [WORKSPACE, "n-1 "]]
    yield accept("nonce-burnt-elsewhere", "Nonces are per workspace, and exact strings.", v2(), burnt=others)
    yield accept(
        "same-tool-call",
        "A redelivery: toolCallId stays, the nonce is new.",
        v2(nonce="n-2"),
        burnt=[[WORKSPACE, "n-1"]],
    )
    # A member called `nonce` would make the intent one of an unsupported version.
    yield accept("version-1-again", "Version 1 has no replay check.", v1(nonce_="n-1"), burnt=[[WORKSPACE, "n-1"]])


def operations() -> Iterator[Vector]:
    for name, path in {
        "decoded-path": "/books/für Ömer",
        "dots-in-a-path": "/a..b/.well-known/...",
        "trailing-slash": "/orders/",
        "double-slash": "/a//b",
        "root": "/",
        "colon-and-at": "/a:b@c;d=1,2",
        "lone-percent": "/100%",
        "percent-and-no-hex": "/a%zz",
        "percent-and-hex": "/a%2Fb",
        "first-character-after-c1": "/a\u00a0b",
        "format-characters": "/a\u00ad\u200b\u2028b",
    }.items():
        yield accept(
            f"path-{name}",
            f"The decoded path {path}",
            v2_without_args(f"GET {path}"),
            method="GET",
            path=path,
            **NO_BODY,
        )
    yield accept("lower-case-method", "The request's method counts in upper case.", v2(), method="post")
    raw = v2_without_args("GET /a b")
    yield accept(
        "raw-path", "The raw path has no escaped slash.", raw, method="GET", path="/a b", rawPath="/a%20b", **NO_BODY
    )
    for name, path, raw_path in (
        ("lone-percent", "/100%", "/100%25"),
        ("percent-and-no-hex", "/a%zz", "/a%25zz"),
        ("percent-and-hex", "/a%2Fb", "/a%252Fb"),
        ("utf-8", "/für😀", "/f%C3%BCr%f0%9f%98%80"),
        ("unencoded", "/für", "/für"),
    ):
        request = {"method": "GET", "path": path, "rawPath": raw_path, **NO_BODY}
        description = f"Every escape of the raw path {raw_path} is a byte of UTF-8."
        yield accept(f"raw-path-{name}", description, v2_without_args(f"GET {path}"), **request)
    both = v2(operation="POST /orders?dry=1&x=%20")
    yield accept("body-and-query", "With a body, the operation carries the raw query.", both, query="dry=1&x=%20")
    query = v2(operation="GET /books?q=a+b", argsHash=sha256('{"q":"a b"}'))
    get = {"method": "GET", "path": "/books", **NO_BODY}
    yield accept("query-in-operation", "Without a body the operation may carry the query.", query, query="q=a+b", **get)
    declared_payload = v2(operation="orders.create")
    yield accept(
        "declared-operation",
        "Another transport declares its own operation.",
        declared_payload,
        operation="orders.create",
        path="/rpc",
    )
    yield accept(
        "declared-beside-ambiguous-path",
        "Where an operation is declared, the path is not looked at.",
        declared_payload,
        operation="orders.create",
        path="/a/../rpc",
        rawPath="/a%2Frpc",
    )
    yield accept(
        "declared-with-query",
        "The declared operation may contain the query.",
        v2(operation="orders.create?dry=1"),
        operation="orders.create?dry=1",
        query="dry=1",
    )
    yield accept(
        "version-1-where-one-is-declared",
        "Version 1 has method and path only, and these count.",
        v1(),
        operation="orders.create",
    )
    yield accept(
        "audience-per-environment",
        "Another audience of the same workspace.",
        v2(aud=f"{AUDIENCE}-eu"),
        verifier={"audience": f"{AUDIENCE}-eu"},
    )


def arguments() -> Iterator[Vector]:
    """Yield one request of each kind; args.json tests each rule of hashing arguments."""
    get = {"method": "GET", "path": "/books", **NO_BODY}
    yield accept("no-arguments", "Neither body nor query.", v2_without_args("GET /books"), **get)
    list_payload = v2(operation="GET /books", argsHash=sha256('{"q":["a","b"],"r":""}'))
    yield accept("query-arguments", "A query; repeated names make an array.", list_payload, query="q=a&r&q=b", **get)
    form = v2(argsHash=sha256('{"note":"für Ömer","q":"1"}'))
    media_type = "application/x-www-form-urlencoded"
    yield accept("form-arguments", "A form.", form, body=b"q=1&note=f%C3%BCr+%C3%96mer", contentType=media_type)
    raw = v2(argsHash=sha256(b"\x00\xff"))
    yield accept(
        "raw-arguments", "Bytes of another type.", raw, body=b"\x00\xff", contentType="application/octet-stream"
    )
    yield accept("patch-json", "Any +json is JSON.", v2(), contentType="Application/Merge-Patch+JSON ; charset=utf-8")
    odd = {"contentType": "application/+json"}
    yield accept("suffix-without-a-name", "application/+json ends with +json: JSON.", v2(), **odd)
    plain = {"contentEncoding": "Identity"}
    yield accept("identity-encoding", "Content-Encoding: identity is no encoding.", v2(), **plain)
    encoding_member = {"contentEncoding": "gzip", **get}
    yield accept(
        "encoding-without-a-body",
        "Without a body nothing is encoded.",
        v2_without_args("GET /books"),
        **encoding_member,
    )
    yield accept(
        "version-1-any-encoding", "Version 1 binds no arguments, encoded or not.", v1(), contentEncoding="gzip"
    )
    largest = v2(argsHash=sha256('{"id":9007199254740992}'))
    yield accept("two-to-the-53", "2^53: a double holds exactly this number.", largest, body=b'{"id":9007199254740992}')
    rewritten = BODY.replace(b"12.50", b"125e-1").replace(b" ", b"\n", 1)
    yield accept("arguments-written-anew", "Other text of the same arguments.", v2(), body=rewritten)
