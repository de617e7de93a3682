"""Vectors for every reason of rejection except `malformed`, and for the order of the checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import operations
from .accepted import NO_BODY
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
    base64url,
    compact_json,
    envelope,
    header,
    reject,
    sha256,
    signature,
    v1,
    v2,
    v2_without_args,
)

MANY = {"workspace": None, "secrets": {WORKSPACE: [SECRET], OTHER_WORKSPACE: [FOREIGN_SECRET]}}


def vectors() -> Iterator[Vector]:
    yield reject("missing-header", "absent", "No header.", None)
    yield reject("missing-header", "empty", "An empty header.", "")
    yield from signatures()
    yield from versions()
    yield from times()
    yield from workspaces_and_audiences()
    yield from operations.vectors()
    yield from arguments()
    yield from step_up_and_replay()
    yield from order_of_checks()


def signatures() -> Iterator[Vector]:
    text, signature_bytes = compact_json(v2()), signature(compact_json(v2())).encode()
    tampered_text = text.replace(b"user-42", b"user-43")
    zero = b'{"payload":%b,"signature":"%b"}' % (text, b"0" * 64)
    flipped_envelope = envelope(text).replace(
        signature_bytes, signature_bytes[:-1] + (b"0" if signature_bytes[-1:] != b"0" else b"1")
    )
    for name, description, value in (
        ("another-secret", "Signed with another secret.", header(v2(), secret=NEXT_SECRET)),
        ("tampered-payload", "One character of the payload was changed.", base64url(envelope(tampered_text, text))),
        ("member-added", "A member was added.", base64url(envelope(text[:-1] + b',"x":1}', text))),
        ("one-digit", "The last digit of the signature was changed.", base64url(flipped_envelope)),
        ("zeros", "A signature of zeros.", base64url(zero)),
        (
            "secret-without-prefix",
            "Signed with the secret without its prefix; the key is the whole secret.",
            header(v2(), secret=SECRET[4:]),
        ),
        (
            "signed-envelope",
            "The envelope was signed in place of the payload.",
            base64url(envelope(text, b'{"payload":' + text + b"}")),
        ),
        (
            "version-stripped",
            "v was taken out of a signed version 2.",
            base64url(envelope(compact_json(v2(v=...)), text)),
        ),
        ("empty-payload", "An empty payload, signed by nobody.", base64url(envelope(b"{}", b"x"))),
    ):
        yield reject("bad-signature", name, description, value)
    old = {"secrets": [NEXT_SECRET]}
    yield reject("bad-signature", "revoked-secret", "The older secret is in force no more.", header(v2()), verifier=old)
    unknown = header(v2(tenantId="ws_ffffffffffffffff"))
    yield reject(
        "bad-signature",
        "unknown-workspace",
        "The verifier serves many workspaces, but not this one.",
        unknown,
        verifier=MANY,
    )
    for name, tenant in (
        ("missing", ...),
        ("number", 7),
        ("null", None),
        ("object", {}),
        ("array", [WORKSPACE]),
        ("name-of-a-language", "__proto__"),
    ):
        value = header(v2(tenantId=tenant))
        description = "The verifier serves many workspaces, and tenantId names none."
        yield reject("bad-signature", f"workspace-{name}", description, value, verifier=MANY)
    foreign = header(v2(tenantId=OTHER_WORKSPACE))
    yield reject(
        "bad-signature", "secret-of-another-workspace", "Each workspace has its own secrets.", foreign, verifier=MANY
    )


def versions() -> Iterator[Vector]:
    def reject_version(name: str, description: str, payload: dict, **rest: object) -> Vector:
        return reject("unsupported-version", name, description, header(payload), **rest)

    for name, value in (
        ("1", 1),
        ("3", 3),
        ("string", "2"),
        ("true", True),
        ("null", None),
        ("array", [2]),
        ("2.5", 2.5),
    ):
        yield reject_version(f"v-{name}", "v is something other than the number 2.", v2(v=value))
    yield reject_version("version-1-with-v", "Version 1 has no v, not even 1.", v1(v=1))
    yield reject_version("stripped", "Version 2 without its v must not pass as version 1.", {**v2(v=...), **v1()})
    for name in ("sub", "aud", "operation", "argsHash", "nonce", "requiresStepUp"):
        yield reject_version(
            f"version-1-with-{name}", "Version 1 has no member that only version 2 has.", v1(**{name: None})
        )
    yield reject_version("empty-and-closed", "An empty payload, after the window.", {}, verifier={"v1Until": NOW - 1})
    yield reject_version("version-1-window-closed", "Version 1 after its end.", v1(), verifier={"v1Until": NOW - 1})
    yield reject_version(
        "version-1-window-just-closed", "A moment after its end.", v1(), verifier={"v1Until": NOW - 0.5}
    )
    yield reject_version(
        "version-1-on-version-2-route", "The route demands version 2.", v1(), verifier={"minimumVersion": 2}
    )


def times() -> Iterator[Vector]:
    for name, payload in (("version-2", v2), ("version-1", v1)):
        milliseconds = {"issuedAt": ISSUED * 1000, "expiresAt": EXPIRES * 1000}
        for unit, changes in (("seconds", {}), ("milliseconds", milliseconds)):
            value, description = header(payload(**changes)), f"{name}, in {unit}."
            late, early, short = {"now": EXPIRES + 0.5}, {"now": ISSUED - 60.5}, {"maxLifetime": LIFETIME_LESS_ONE}
            yield reject("expired", f"{name}-{unit}", f"Half a second too late; {description}", value, verifier=late)
            yield reject(
                "not-yet-valid", f"{name}-{unit}", f"Issued 60.5 s from now; {description}", value, verifier=early
            )
            yield reject(
                "lifetime-too-long", f"{name}-{unit}", f"A second too long; {description}", value, verifier=short
            )
        for name_of_case, issued_at, expires_at in (
            ("ends-before-it-begins", NOW + 30, NOW + 20),
            ("ends-a-moment-before-it-begins", NOW + 0.5, NOW + 0.25),
            ("ends-before-it-begins-far-ahead", NOW + 120, NOW + 110),
        ):
            value = header(payload(issuedAt=issued_at, expiresAt=expires_at))
            yield reject("expired", f"{name}-{name_of_case}", "expiresAt is before issuedAt, and after now.", value)
        value = header(payload(issuedAt=(NOW + 30) * 1000, expiresAt=(NOW + 20) * 1000))
        description = "expiresAt is before issuedAt, and after now; in milliseconds."
        yield reject("expired", f"{name}-ends-before-it-begins-in-milliseconds", description, value)
    yield reject("expired", "in-1970", "Times in 1970.", header(v2(issuedAt=1, expiresAt=2)))
    yield reject(
        "not-yet-valid",
        "far-ahead",
        "Issued in the year 5138.",
        header(v2(issuedAt=99999999998, expiresAt=99999999999)),
    )
    yield reject("lifetime-too-long", "over-a-day", "24 hours and a second.", header(v2(expiresAt=ISSUED + DAY + 1)))


LIFETIME_LESS_ONE = EXPIRES - ISSUED - 1


def workspaces_and_audiences() -> Iterator[Vector]:
    for name, payload in (("version-2", v2), ("version-1", v1)):
        value = header(payload(tenantId=OTHER_WORKSPACE))
        yield reject("tenant-mismatch", name, "Signed with this workspace's secret, for another one.", value)
    value = header(v2(tenantId=WORKSPACE.upper()))
    yield reject("tenant-mismatch", "upper-case", "Compared exactly.", value)
    for name, audience in (
        ("other-environment", f"urn:affidavit:{WORKSPACE}:staging"),
        ("upper-case", AUDIENCE.upper()),
        ("longer", f"{AUDIENCE}/"),
        ("shorter", AUDIENCE[:-1]),
    ):
        yield reject("audience-mismatch", name, "Bound to another audience.", header(v2(aud=audience)))


def arguments() -> Iterator[Vector]:
    """Yield calls whose arguments are not the signed ones.

    args.json also has the bodies and queries for which no hash is defined.
    """

    def mismatch(name: str, description: str, payload: dict, **request: object) -> Vector:
        return reject("args-mismatch", name, description, header(payload), **request)

    yield mismatch("tampered-body", "The quantity was changed.", v2(), body=BODY.replace(b"2,", b"3,"))
    yield mismatch("body-removed", "The body was taken away.", v2(), **NO_BODY)
    yield mismatch("body-added", "A body where none was signed.", v2_without_args("POST /orders"))
    yield mismatch("other-type", "The same bytes under another type.", v2(), contentType="text/plain")
    yield mismatch("no-type", "The same bytes without a type.", v2(), contentType=None)
    yield mismatch("upper-case-hash", "argsHash is lower-case hex.", v2(argsHash=v2()["argsHash"].upper()))
    raw = v2(argsHash=sha256(BODY))
    yield mismatch("hash-of-bytes", "The hash of the bytes, not of the canonical form.", raw)
    yield mismatch("not-json", "A body that is not JSON.", v2(), body=BODY + b"}")
    fine = v2(argsHash=sha256('{"id":9007199254740992}'))
    yield mismatch(
        "number-beyond-a-double", "9007199254740993 has no canonical form.", fine, body=b'{"id":9007199254740993}'
    )
    for encoding in ("gzip", "identity, gzip", "utf-8"):
        encoding_member = {"contentEncoding": encoding}
        description = f"The body has Content-Encoding: {encoding}. None but identity is accepted."
        yield mismatch(f"encoding-{encoding.replace(', ', '-')}", description, v2(), **encoding_member)
    get = {"method": "GET", "path": "/books", **NO_BODY}
    odd = v2(operation="GET /books", argsHash=sha256('{"q":"100%"}'))
    yield mismatch("query-lone-percent", "A lone % in the query: not percent-encoded.", odd, query="q=100%", **get)
    list_payload = v2(operation="GET /books", argsHash=sha256('{"q":["a","b"]}'))
    yield mismatch("query-in-other-order", "Repeated names count in their order.", list_payload, query="q=b&q=a", **get)
    yield mismatch("query-added", "A query where none was signed.", v2_without_args("GET /books"), query="q=a", **get)


def step_up_and_replay() -> Iterator[Vector]:
    value = header(v2(requiresStepUp=True))
    yield reject("step-up-required", "gate-has-not-run", "The backend's own step-up check has not passed.", value)
    burnt = [[WORKSPACE, "n-1"]]
    yield reject("replayed", "same-nonce", "The nonce is burnt.", header(v2()), burnt=burnt)
    value = header(v2(toolCallId="call-2", sub="user-1"))
    yield reject("replayed", "another-call", "The nonce is burnt, for another call.", value, burnt=burnt)
    wide = header(v2(nonce="für 😀"))
    yield reject("replayed", "any-characters", "A nonce is any string.", wide, burnt=[[WORKSPACE, "für 😀"]])


FAULTS = (
    ("bad-signature", {}),
    ("unsupported-version", {"v": 3}),
    ("malformed", {"sub": None}),
    ("expired", {"expiresAt": ISSUED}),
    ("not-yet-valid", {"issuedAt": NOW + 61, "expiresAt": NOW + 2 * DAY}),
    ("lifetime-too-long", {"expiresAt": ISSUED + 2 * DAY}),
    ("tenant-mismatch", {"tenantId": OTHER_WORKSPACE}),
    ("audience-mismatch", {"aud": "urn:x"}),
    ("operation-mismatch", {"operation": "GET /"}),
    ("args-mismatch", {"argsHash": "0"}),
    ("step-up-required", {"requiresStepUp": True}),
    ("replayed", {}),
)
"""Reasons in the order of the checks, each with a fault that no earlier check detects."""


def order_of_checks() -> Iterator[Vector]:
    """Yield requests with all faults from one check on: the first check that fails gives the reason."""
    burnt = [[WORKSPACE, "n-1"], [OTHER_WORKSPACE, "n-1"]]
    for first, (reason, _) in enumerate(FAULTS):
        changes: dict[str, Any] = {}
        for _, fault in reversed(FAULTS[first:]):
            changes.update(fault)
        value = header(v2(**changes), secret=FOREIGN_SECRET if reason == "bad-signature" else SECRET)
        yield reject(reason, "comes-first", "All later checks would fail too.", value, burnt=burnt)
