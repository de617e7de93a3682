"""Requests other than the signed one: `operation-mismatch`; in version 1 `method-mismatch` or `path-mismatch`."""

from __future__ import annotations

from collections.abc import Iterator

from .accepted import NO_BODY
from .build_vectors import Payload, Vector, header, reject, sha256, v1, v2, v2_without_args


def vectors() -> Iterator[Vector]:
    yield from other_operations()
    yield from ambiguous_paths()
    yield from methods_and_paths()


def mismatch(name: str, description: str, payload: Payload, **request: object) -> Vector:
    return reject("operation-mismatch", name, description, header(payload), **request)


def other_operations() -> Iterator[Vector]:
    for name, operation in (
        ("other-path", "POST /orders/17"),
        ("other-method", "PUT /orders"),
        ("trailing-slash", "POST /orders/"),
        ("upper-case-path", "POST /Orders"),
        ("lower-case-method", "post /orders"),
        ("two-spaces", "POST  /orders"),
        ("path-only", "/orders"),
        ("whole-url", "POST https://api.example/orders"),
        ("mount-prefix", "POST /api/orders"),
        ("empty-query", "POST /orders?"),
    ):
        yield mismatch(name, f"{operation} was signed.", v2(operation=operation))
    with_query = v2(operation="POST /orders?dry=1&x=2")
    for name, query in (
        ("no-query", ""),
        ("other-query", "dry=0&x=2"),
        ("other-order", "x=2&dry=1"),
        ("encoded-query", "dry=%31&x=2"),
    ):
        yield mismatch(name, "The raw query differs from the signed one.", with_query, query=query)
    description = "The query is the signed one, the path is not."
    elsewhere = v2(operation="POST /refunds?dry=1")
    yield mismatch("other-path-and-query", description, elsewhere, query="dry=1")
    get = {"method": "GET", "path": "/books", "query": "q=a", **NO_BODY}
    for name, operation in (("without-query", "GET /orders"), ("with-query", "GET /orders?q=a")):
        elsewhere = v2(operation=operation, argsHash=sha256('{"q":"a"}'))
        yield mismatch(f"other-path-{name}", description, elsewhere, **get)
    yield mismatch("body-and-unsigned-query", "With a body the query has to be signed.", v2(), query="dry=1")
    declared_payload = v2(operation="orders.create")
    yield mismatch("other-declared", "Another operation is declared.", declared_payload, operation="orders.delete")
    yield mismatch(
        "declared-not-path", "The declared operation counts, not method and path.", v2(), operation="orders.create"
    )
    query_payload = v2(operation="orders.create?dry=1")
    request = {"operation": "orders.create", "query": "dry=1"}
    yield mismatch(
        "declared-without-its-query",
        "The query is signed, but the declared operation does not contain it.",
        query_payload,
        **request,
    )
    yield mismatch("nothing-declared", "Nothing is declared.", declared_payload)
    yield mismatch(
        "declared-and-unsigned-query",
        "A body, and a query that is not signed.",
        declared_payload,
        operation="orders.create",
        query="dry=1",
    )


def ambiguous_paths() -> Iterator[Vector]:
    description = "Two servers could read this path differently."
    for name, path in AMBIGUOUS:
        payload = v2_without_args(f"GET {path}")
        yield mismatch(f"path-with-{name}", description, payload, method="GET", path=path, **NO_BODY)
    request = {"method": "GET", "path": "/a/b", **NO_BODY}
    for name, raw in (("upper-case", "/a%2Fb"), ("lower-case", "/a%2fb")):
        description = "An escaped slash in the raw path."
        yield mismatch(f"escaped-slash-{name}", description, v2_without_args("GET /a/b"), rawPath=raw, **request)

    for name, path, raw in BAD_ESCAPES:
        request = {"method": "GET", "path": path, "rawPath": raw, **NO_BODY}
        description = f"The raw path {raw} is not percent-encoded UTF-8."
        yield mismatch(f"raw-path-{name}", description, v2_without_args(f"GET {path}"), **request)


BAD_ESCAPES = (
    ("no-hex", "/a%zz", "/a%zz"),
    ("half-hex", "/a%4x", "/a%4x"),
    ("lone-percent", "/a%/b", "/a%/b"),
    ("percent-at-end", "/100%", "/100%"),
    ("one-digit-at-end", "/100%2", "/100%2"),
    ("escaped-unit", "/a%u002e", "/a%u002e"),
    ("no-utf-8", "/a\ufffd", "/a%FF"),
    ("overlong", "/a\ufffd\ufffd", "/a%c0%ae"),
    ("surrogate", "/a\ufffd", "/a%ED%A0%BD"),
)
"""Each has a path as a lax server decodes it, and the raw path."""

AMBIGUOUS = (
    ("question-mark", "/a?b"),
    ("hash", "/a#b"),
    ("backslash", "/a\\b"),
    ("line-break", "/a\nb"),
    ("delete", "/a\x7fb"),
    ("c1-control", "/a\x85b"),
    ("first-c1-control", "/a\x80b"),
    ("last-c1-control", "/a\x9fb"),
    ("last-c0-control", "/a\x1fb"),
    ("dot-segment", "/a/./b"),
    ("dot-at-end", "/a/."),
    ("dot-dot-segment", "/a/../b"),
    ("dot-dot-at-end", "/a/.."),
)


def methods_and_paths() -> Iterator[Vector]:
    yield reject("method-mismatch", "other-method", "Another method.", header(v1()), method="GET")
    yield reject("method-mismatch", "before-path", "Method and path differ.", header(v1()), method="GET", path="/x")
    yield reject("method-mismatch", "lower-case", "post was signed.", header(v1(method="post")))
    for name, path in (("other-path", "/orders/17"), ("trailing-slash", "/orders/"), ("upper-case", "/Orders")):
        yield reject("path-mismatch", name, f"{path} was signed.", header(v1(path=path)))
    for name, path in AMBIGUOUS:
        value = header(v1(path=path))
        yield reject(
            "path-mismatch", f"path-with-{name}", "Two servers could read this path differently.", value, path=path
        )
    declared_header = header(v1(method="orders.create", path="/"))
    yield reject(
        "method-mismatch",
        "declared",
        "Version 1 binds no declared operation.",
        declared_header,
        operation="orders.create",
    )
    value = header(v1(path="/a/../b"))
    yield reject(
        "path-mismatch",
        "declared",
        "A declared operation does not make an ambiguous path acceptable.",
        value,
        path="/a/../b",
        operation="a.b",
    )
    value = header(v1(path="/a/b"))
    yield reject(
        "path-mismatch", "escaped-slash", "An escaped slash in the raw path.", value, path="/a/b", rawPath="/a%2Fb"
    )
    for name, path, raw in BAD_ESCAPES:
        description = f"The raw path {raw} is not percent-encoded UTF-8."
        yield reject("path-mismatch", f"raw-path-{name}", description, header(v1(path=path)), path=path, rawPath=raw)
    yield reject(
        "path-mismatch", "query-in-path", "Version 1 signs no query.", header(v1(path="/orders?a=1")), query="a=1"
    )
