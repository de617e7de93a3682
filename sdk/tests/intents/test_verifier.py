"""A verifier: which calls it accepts, why it rejects others, and how it explains a check."""

import functools
import json
import math

import pytest
from support.verifier_calls import (
    AUDIENCE,
    BODY,
    NOW,
    OTHER_SECRET,
    REQUEST,
    SECRET,
    WORKSPACE,
    mint_example,
    reason,
    sign_example,
    v1,
    verifier,
)

from affidavit._errors import StoreUnavailable
from affidavit._intents.args import args_hash
from affidavit._intents.check_descriptions import CHECKS
from affidavit._intents.envelope import seal
from affidavit._intents.intent import sign_payload
from affidavit._intents.nonces import MemoryNonces
from affidavit._intents.operation import AMBIGUOUS
from affidavit._intents.reasons import REASONS
from affidavit._intents.signing_key import build_signing_key
from affidavit._intents.verifier import IntentRejected, IntentVerifier
from affidavit._protection.protection import Demands


def test_a_verified_intent_has_the_facts_of_its_payload():
    intent = verifier().verify(mint_example(tool_call_id="call-9").header, **REQUEST)
    assert (intent.version, intent.tool_call_id, intent.workspace) == (2, "call-9", WORKSPACE)
    assert (intent.sub, intent.audience, intent.operation) == ("user-1", AUDIENCE, "POST /orders")
    assert intent.args == {"isbn": "978", "qty": 2}
    assert intent.args_hash == args_hash(intent.args)
    assert (intent.issued_at, intent.expires_at) == (NOW, NOW + 300)
    assert intent.payload["toolCallId"] == "call-9"


def test_a_version_one_intent_binds_method_and_path_only():
    intent = verifier().verify(v1(userId="u"), "post", "/orders", "any=1", b"whatever")
    assert (intent.version, intent.sub, intent.args, intent.nonce) == (1, "u", None, None)
    assert (intent.tool_call_id, intent.workspace, intent.operation) == ("call-1", WORKSPACE, "POST /orders")
    assert (intent.requires_step_up, intent.payload["userId"]) == (False, "u")


GET_BOOKS = {"method": "GET", "path": "/books", "query": "q=a", "body": b""}
REJECTIONS = [
    ("missing-header", None, {}),
    ("missing-header", "", {}),
    ("malformed", "x", {}),
    ("malformed", "é", {}),
    ("malformed", " ", {}),
    ("malformed", "A" * 8193, {}),
    ("bad-signature", mint_example(OTHER_SECRET).header, {}),
    ("unsupported-version", sign_example(v=3), {}),
    ("unsupported-version", v1(sub="u"), {}),
    ("unsupported-version", v1(), {"minimum_version": 2}),
    ("malformed", sign_example(nonce=7), {}),
    ("malformed", sign_example(issuedAt=NOW * 1000), {}),
    ("expired", mint_example(now=NOW - 301).header, {}),
    ("expired", sign_example(issuedAt=NOW + 30, expiresAt=NOW + 20), {}),
    ("not-yet-valid", mint_example(now=NOW + 61).header, {}),
    ("lifetime-too-long", sign_example(expiresAt=NOW + 86_401), {}),
    ("tenant-mismatch", mint_example(tenant_id="other").header, {}),
    ("audience-mismatch", mint_example(aud="https://staging.lumen.example").header, {}),
    ("operation-mismatch", mint_example(operation="POST /orders/").header, {}),
    ("operation-mismatch", mint_example(operation="post /orders").header, {}),
    ("operation-mismatch", mint_example().header, {"path": "/orders/17"}),
    ("operation-mismatch", mint_example().header, {"method": "PUT"}),
    ("operation-mismatch", mint_example().header, {"query": "a=1"}),
    ("operation-mismatch", mint_example(operation="POST /orders?a=1").header, {"query": "a=2"}),
    ("operation-mismatch", mint_example(operation="POST /orders?a=1").header, {}),
    ("operation-mismatch", mint_example(operation="GET /other", args={"q": "a"}).header, GET_BOOKS),
    ("operation-mismatch", mint_example().header, {"raw_path": "/x%2Forders"}),
    ("operation-mismatch", mint_example().header, {"raw_path": "/orders%FF"}),
    ("operation-mismatch", mint_example().header, {"raw_path": "/orders%zz"}),
    ("operation-mismatch", mint_example().header, {"operation": "orders.create"}),
    ("operation-mismatch", mint_example(operation="orders.create").header, {}),
    (
        "operation-mismatch",
        mint_example(operation="orders.create").header,
        {"operation": "orders.create", "query": "a=1"},
    ),
    ("method-mismatch", v1(), {"method": "GET"}),
    ("method-mismatch", v1(), {"method": "GET", "path": "/x"}),
    ("path-mismatch", v1(), {"path": "/x"}),
    ("path-mismatch", v1(path="/a?b"), {"path": "/a?b"}),
    ("args-mismatch", mint_example(args={}).header, {}),
    ("args-mismatch", mint_example().header, {"body": b""}),
    ("args-mismatch", mint_example().header, {"body": BODY + b","}),
    ("args-mismatch", mint_example().header, {"content_type": "text/plain"}),
    ("args-mismatch", mint_example().header, {"content_encoding": "gzip"}),
    ("args-mismatch", sign_example(argsHash=args_hash(json.loads(BODY)).upper()), {}),
    ("step-up-required", mint_example(requires_step_up=True).header, {}),
]


@pytest.mark.parametrize(("expected", "header", "request_"), REJECTIONS)
def test_each_fault_is_rejected_with_its_reason(expected, header, request_):
    assert reason(header, **request_) == expected


def test_every_reason_occurs_for_some_request():
    assert {expected for expected, _, _ in REJECTIONS} | {"replayed"} == set(REASONS)


@pytest.mark.parametrize(
    "path", ["/a?b", "/a#b", "/a\\b", "/a\nb", "/a\x7fb", "/a\x85b", "/a/../b", "/./a", "/a/.", "..", "/.."]
)
def test_a_path_that_two_servers_could_read_differently_is_refused(path):
    assert reason(mint_example(operation=f"POST {path}").header, path=path) == "operation-mismatch"


@pytest.mark.parametrize("path", ["/a.b", "/.well-known/x", "/a..b/c", "/é/ü", "/a b", "/a:b@c", "/...", "/", "/a//b"])
def test_an_unambiguous_path_passes(path):
    assert reason(mint_example(operation=f"POST {path}").header, path=path, raw_path="/%20") is None


@pytest.mark.parametrize("operation", ["GET /books", "GET /books?q=a&q=b"])
def test_a_query_is_bound_by_its_hash_or_by_the_operation(operation):
    header = mint_example(operation=operation, args={"q": ["a", "b"]}).header
    request = {"method": "GET", "path": "/books", "body": b"", "content_type": None}
    assert reason(header, **{**request, "query": "q=a&q=b"}) is None
    assert reason(header, **{**request, "query": "q=a"}) in ("args-mismatch", "operation-mismatch")


def test_with_a_body_the_query_is_part_of_the_operation():
    assert reason(mint_example(operation="POST /orders?a=1").header, query="a=1") is None


def test_a_view_can_declare_the_operation_of_another_transport():
    header = mint_example(operation="orders.create").header
    assert reason(header, operation="orders.create", path="/rpc?", method="X") is None


def test_a_nonce_is_accepted_once():
    subject, header = verifier(), mint_example().header
    assert [reason(header, subject) for _ in range(3)] == [None, "replayed", "replayed"]


def test_a_rejected_intent_keeps_its_nonce():
    subject, header = verifier(), mint_example().header
    assert reason(header, subject, body=b"{}") == "args-mismatch"
    assert reason(header, subject) is None


def test_version_one_has_no_replay_check():
    subject, header = verifier(), v1()
    assert [reason(header, subject) for _ in range(2)] == [None, None]


@pytest.mark.parametrize(
    ("header", "moment", "expected"),
    [
        (mint_example().header, NOW + 300, None),
        (mint_example().header, NOW + 300.001, "expired"),
        (mint_example().header, NOW - 60, None),
        (mint_example().header, NOW - 60.001, "not-yet-valid"),
        (sign_example(issuedAt=NOW * 1000, expiresAt=NOW * 1000 + 1), NOW, None),
        (sign_example(issuedAt=NOW * 1000, expiresAt=NOW * 1000 + 1), NOW + 0.002, "expired"),
        (sign_example(issuedAt=-(10**300), expiresAt=NOW + 1), NOW, "lifetime-too-long"),
        (sign_example(issuedAt=NOW, expiresAt=NOW), NOW, None),
        (sign_example(issuedAt=NOW, expiresAt=NOW + 86_400), NOW, None),
    ],
)
def test_an_intent_is_valid_from_a_minute_before_its_issue_until_it_expires(header, moment, expected):
    assert reason(header, verifier(now=lambda: moment)) == expected


@pytest.mark.parametrize(
    ("detail", "header", "request_"),
    [
        ("the header is over 8 KiB.", "A" * 8193, {}),
        (REASONS["bad-signature"].meaning, mint_example(OTHER_SECRET).header, {}),
        ("The payload is of neither version.", sign_example(v=3), {}),
        ("This route accepts version 2 only.", v1(), {"minimum_version": 2}),
        ("nonce has to be a string, and not an empty one.", sign_example(nonce=7), {}),
        ("The intent expires before it was issued.", sign_example(issuedAt=NOW + 30, expiresAt=NOW + 20), {}),
        (AMBIGUOUS, v1(path="/a?b"), {"path": "/a?b"}),
        (REASONS["operation-mismatch"].meaning, mint_example(operation="POST /x").header, {}),
        (
            "The request has both a body and a query: the operation has to carry the exact query string.",
            mint_example().header, {"query": "a=1"},
        ),
        ("the body has a Content-Encoding: send it plain.", mint_example().header, {"content_encoding": "gzip"}),
        ("This verifier has no step-up gate.", mint_example(requires_step_up=True).header, {}),
    ],
)  # fmt: skip
def test_a_rejection_describes_what_was_wrong(detail, header, request_):
    with pytest.raises(IntentRejected) as caught:
        verifier().verify(header, **{**REQUEST, **request_})
    assert (caught.value.detail, str(caught.value)) == (detail, f"{caught.value.reason}: {detail}")


def test_an_intent_names_the_secret_that_verified_it():
    subject = verifier([OTHER_SECRET, SECRET.replace("a", "c"), SECRET])
    assert subject.verify(mint_example().header, **REQUEST).signed_with == "gas_aaaa"
    assert verifier("s" * 40).verify(mint_example("s" * 40).header, **REQUEST).signed_with == ""


def test_a_verifier_of_one_workspace_asks_for_its_own_secrets_only():
    looked_up = []
    subject, hub = (
        verifier(lambda name: looked_up.append(name) or [SECRET], workspace=workspace)
        for workspace in (WORKSPACE, None)
    )
    assert reason(mint_example(tenant_id="other").header, subject) == "tenant-mismatch"
    assert reason(sign_example(tenantId=7), hub) == "bad-signature"
    assert looked_up == [WORKSPACE]


def test_a_request_without_a_body_verifies_with_empty_arguments():
    header = mint_example(operation="GET /books", args={}).header
    assert all(check.reason is None for check in verifier().explain(header, "GET", "/books"))
    assert verifier().verify(header, "GET", "/books").args == {}


def test_a_lifetime_may_be_limited_to_less_than_a_second():
    assert reason(sign_example(issuedAt=NOW, expiresAt=NOW + 0.5), verifier(max_lifetime=0.5)) is None
    assert reason(sign_example(issuedAt=NOW, expiresAt=NOW + 1), verifier(max_lifetime=0.5)) == "lifetime-too-long"


@pytest.mark.parametrize("minimum", [0, 3, "2", 2.0, True])
def test_a_minimum_version_that_is_no_version_is_refused_at_the_start(minimum):
    with pytest.raises(ValueError, match=r"minimum_version: expected 1 or 2, got "):
        verifier(minimum_version=minimum)
    with pytest.raises(ValueError, match=r"minimum_version: expected 1 or 2, got "):
        Demands(minimum_version=minimum)


def test_the_window_for_both_versions_ends_at_its_time():
    assert reason(v1(), verifier(accept_v1=NOW)) is None
    assert reason(v1(), verifier(accept_v1=NOW - 1)) == "unsupported-version"
    assert reason(v1(), verifier(accept_v1=False)) == "unsupported-version"
    assert reason(v1(), verifier(minimum_version=2)) == "unsupported-version"
    assert reason(v1(), verifier(minimum_version=2), minimum_version=1) is None
    with pytest.raises(IntentRejected, match=r"The window for version 1 is closed\.$"):
        verifier(accept_v1=False).verify(v1(), **REQUEST)


@pytest.mark.parametrize(
    ("moment", "expected"), [(math.nan, "expired"), (math.inf, "expired"), (-math.inf, "not-yet-valid")]
)
def test_with_a_broken_clock_nothing_passes_and_no_nonce_is_burnt(moment, expected):
    nonces = MemoryNonces(several_workers=True)
    broken, header = verifier(nonces=nonces, now=lambda: moment), mint_example().header
    assert (reason(header, broken), reason(v1(), broken)) == (expected, expected)
    assert [check.reason for check in broken.explain(header, **REQUEST) if check.reason] == [expected]
    assert reason(header, verifier(nonces=nonces)) is None


def test_a_window_without_a_finite_end_is_refused():
    with pytest.raises(ValueError, match="accept_v1"):
        verifier(accept_v1=math.nan)


def test_the_step_up_gate_gets_the_intent_and_the_request():
    seen = []
    gate = verifier(step_up=lambda intent, request: bool(seen.append((intent.sub, request))) or request == "fresh")
    assert reason(mint_example(requires_step_up=True).header, gate, request="fresh") is None
    assert reason(mint_example(requires_step_up=True).header, gate, request="stale") == "step-up-required"
    assert reason(mint_example(requires_step_up=False).header, gate, request="unasked") is None
    assert seen == [("user-1", "fresh"), ("user-1", "stale")]


def test_an_async_step_up_gate_is_refused_since_its_coroutine_would_always_pass():
    async def step_up(intent, request):
        return False

    class Gate:
        async def __call__(self, intent, request):
            return False

    for gate in (step_up, Gate(), functools.partial(step_up)):
        with pytest.raises(ValueError, match="step_up: this function is async"):
            verifier(step_up=gate)


def test_during_a_rotation_both_secrets_verify():
    subject = verifier([OTHER_SECRET, SECRET])
    assert reason(mint_example(SECRET).header, subject) is None
    assert reason(mint_example(OTHER_SECRET).header, subject) is None
    assert reason(mint_example("gas_" + "c" * 43).header, subject) == "bad-signature"


def test_a_hub_finds_the_secrets_of_the_workspace_that_a_header_names():
    known = {"lumen": [SECRET], "other": [OTHER_SECRET]}
    subject = verifier(known.get, workspace=None)
    assert reason(mint_example().header, subject) is None
    assert reason(mint_example(OTHER_SECRET, tenant_id="other").header, subject) is None
    assert reason(mint_example(SECRET, tenant_id="other").header, subject) == "bad-signature"
    assert reason(mint_example(tenant_id="unknown").header, subject) == "bad-signature"
    assert reason(sign_example(tenantId=7), subject) == "bad-signature"


@pytest.mark.parametrize(
    "wrong",
    [
        {"secrets": ""}, {"secrets": "short"}, {"secrets": [SECRET, " "]}, {"secrets": []}, {"secrets": SECRET + "\n"},
        {"workspace": None}, {"workspace": ""}, {"max_lifetime": 0}, {"max_lifetime": 86_401},
    ],
)  # fmt: skip
def test_an_unsafe_verifier_is_refused_at_start(wrong):
    with pytest.raises(ValueError, match=r"secret|workspace|max_lifetime"):
        verifier(**wrong)


def test_an_empty_secret_from_a_lookup_never_verifies():
    forged = seal(b'{"tenantId":"lumen"}', build_signing_key("x" * 32))
    with pytest.raises(ValueError, match="secret is empty"):
        reason(forged, verifier(lambda workspace: [""]))


class Unreachable:
    def burn(self, workspace, nonce, expires_at, *, now):
        raise StoreUnavailable("away")

    is_burnt = burn


def test_an_unreachable_store_is_an_error_and_no_rejection():
    with pytest.raises(StoreUnavailable):
        verifier(nonces=Unreachable()).verify(mint_example().header, **REQUEST)


def test_the_reason_is_the_first_failure_in_the_order_of_the_contract():
    """A request with a fault for nearly every check is corrected one fault at a time, and fails each check in turn."""
    wrong = {
        "expiresAt": NOW - 1, "tenantId": "x", "aud": "x", "operation": "x", "argsHash": "x", "requiresStepUp": True,
    }  # fmt: skip
    subject, right = verifier(), mint_example().payload
    subject.verify(sign_example(nonce="used"), **REQUEST)
    repairs = [
        ("malformed", "", {}),
        ("bad-signature", OTHER_SECRET, {"nonce": 7, "v": 3, **wrong}),
        ("unsupported-version", SECRET, {"nonce": 7, "v": 3, **wrong}),
        ("malformed", SECRET, {"nonce": 7, **wrong}),
        ("expired", SECRET, {"nonce": "used", **wrong}),
        *[
            (expected, SECRET, {"nonce": "used", **dict(list(wrong.items())[position:])})
            for position, expected in enumerate(
                ["tenant-mismatch", "audience-mismatch", "operation-mismatch", "args-mismatch", "step-up-required"], 1
            )
        ],
        ("replayed", SECRET, {"nonce": "used"}),
    ]
    for expected, secret, changes in repairs:
        header = sign_payload(secret, {**right, **changes}) if secret else "{"
        assert reason(header, subject) == expected


def test_a_rejection_has_the_intent_only_if_the_signature_is_right():
    with pytest.raises(IntentRejected) as forged:
        verifier().verify(mint_example(OTHER_SECRET).header, **REQUEST)
    assert forged.value.intent is None
    with pytest.raises(IntentRejected) as late:
        verifier().verify(mint_example(now=NOW - 400).header, **REQUEST)
    assert late.value.intent.sub == "user-1"


def test_no_rejection_repeats_a_secret_a_signature_or_a_body_value():
    for _, header, request in REJECTIONS:
        with pytest.raises(IntentRejected) as caught:
            verifier().verify(header, **{**REQUEST, **request})
        message = f"{caught.value} {caught.value.detail}"
        assert SECRET not in message
        assert "978" not in message
        assert not header or len(header) < 9 or header not in message


@pytest.mark.parametrize(
    ("expected", "header", "request_"), [*REJECTIONS, (None, mint_example().header, {}), (None, v1(), {})]
)
def test_an_explanation_first_fails_where_verification_does(expected, header, request_):
    checks = verifier().explain(header, **{**REQUEST, **request_})
    assert [check.name for check in checks] == list(CHECKS)
    failed = [check for check in checks if check.state == "failed"]
    assert [check.reason for check in failed][:1] == ([expected] if expected else [])
    if failed:
        position = checks.index(failed[0])
        assert all(check.detail for check in failed)
        assert all(check.state in ("passed", "not-bound") for check in checks[:position])
    if expected in ("missing-header", "malformed"):
        assert [check.state for check in checks][-1] == "not-reached"
    assert SECRET not in repr(checks)


def test_the_table_of_reasons_names_every_check_that_gives_a_reason():
    given = {reason.slug: {reason.check, reason.later_check} - {""} for reason in REASONS.values()}
    observed: dict[str, set[str]] = {"replayed": {"nonce"}}
    for expected, header, request in REJECTIONS:
        checks = verifier().explain(header, **{**REQUEST, **request})
        observed.setdefault(expected, set()).add(next(check.name for check in checks if check.state == "failed"))
    assert observed == given


def test_an_explanation_goes_on_after_a_failure_and_names_every_reason():
    header = mint_example(OTHER_SECRET, tenant_id="ws_9", aud="staging", args={}, now=NOW - 7200).header
    checks = verifier().explain(header, **{**REQUEST, "path": "/refunds"})
    assert {check.name: check.reason for check in checks if check.reason} == {
        "signature": "bad-signature",
        "time": "expired",
        "workspace": "tenant-mismatch",
        "audience": "audience-mismatch",
        "operation": "operation-mismatch",
        "arguments": "args-mismatch",
    }
    assert {check.state for check in checks} == {"passed", "failed"}
    sides = {check.name: (check.signed, check.actual) for check in checks}
    assert sides["audience"] == ("staging", AUDIENCE)
    assert sides["operation"] == ("POST /orders", "POST /refunds")


def test_an_explanation_of_a_closed_version_one_window_still_compares_the_rest():
    checks = {check.name: check for check in verifier(accept_v1=False).explain(v1(), **{**REQUEST, "path": "/refunds"})}
    assert checks["payload"].reason == "unsupported-version"
    assert checks["operation"].reason == "path-mismatch"
    assert checks["nonce"].state == "not-bound"


def test_an_explanation_gives_each_failure_its_own_cause():
    header = mint_example(operation="POST /x", requires_step_up=True, now=NOW - 7200).header
    checks = {check.name: check for check in verifier().explain(header, **{**REQUEST, "content_encoding": "gzip"})}
    assert checks["arguments"].detail == "the body has a Content-Encoding: send it plain."
    assert checks["arguments"].actual is None
    assert checks["step-up"].detail == "This verifier has no step-up gate."
    foreign_header = mint_example(OTHER_SECRET, tenant_id="ws_9", args={}).header
    checks = {check.name: check for check in verifier().explain(foreign_header, **{**REQUEST, "query": "a=1"})}
    assert checks["arguments"].detail == REASONS["args-mismatch"].meaning
    assert checks["arguments"].actual == args_hash(json.loads(BODY))
    assert (checks["workspace"].signed, checks["workspace"].actual) == ("ws_9", WORKSPACE)


@pytest.mark.parametrize("header", [None, "x"])
def test_an_explanation_stops_at_a_header_that_cannot_be_read(header):
    states = [check.state for check in verifier().explain(header, **REQUEST)]
    assert states.count("failed") == 1
    assert states[states.index("failed") + 1 :] == ["not-reached"] * (len(CHECKS) - states.index("failed") - 1)


def test_a_verifier_is_configured_by_environment_variables(monkeypatch):
    values = {"AFFIDAVIT_SIGNING_SECRET": SECRET, "AFFIDAVIT_WORKSPACE": WORKSPACE, "AFFIDAVIT_AUDIENCE": AUDIENCE}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    subject = IntentVerifier(nonces=MemoryNonces(several_workers=True), now=lambda: NOW)
    assert reason(mint_example().header, subject) is None
    assert reason(mint_example(tenant_id="other").header, subject) == "tenant-mismatch"
    assert reason(mint_example(aud="other").header, subject) == "audience-mismatch"
    hub = IntentVerifier(secrets=lambda name: [SECRET], nonces=MemoryNonces(several_workers=True), now=lambda: NOW)
    assert reason(mint_example(tenant_id="other").header, hub) is None
    monkeypatch.delenv("AFFIDAVIT_SIGNING_SECRET")
    with pytest.raises(ValueError, match="secret is empty"):
        IntentVerifier(nonces=MemoryNonces(several_workers=True))


@pytest.mark.parametrize(
    "both", [f"{OTHER_SECRET},{SECRET}", f"{OTHER_SECRET} , {SECRET}", f"{SECRET},{OTHER_SECRET},"]
)
def test_several_secrets_may_stand_in_one_text_as_during_a_rotation(both):
    subject = verifier(secrets=both)
    assert reason(mint_example().header, subject) is None
    assert reason(mint_example(secret=OTHER_SECRET).header, subject) is None
    with pytest.raises(ValueError, match="API key"):
        verifier(secrets=f"gak_{'a' * 43}")


@pytest.mark.parametrize("text", [f"{SECRET},gas_short", f"{OTHER_SECRET},{SECRET}\n", f"{SECRET},gak_{'a' * 43}"])
def test_a_text_with_a_secret_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match="secret"):
        verifier(secrets=text)


def test_an_explanation_shows_signed_and_actual_values():
    checks = {check.name: check for check in verifier().explain(mint_example(aud="staging").header, **REQUEST)}
    assert (checks["audience"].signed, checks["audience"].actual) == ("staging", AUDIENCE)
    assert checks["time"].actual == "2027-01-15T08:00:00Z"


def test_an_explanation_of_version_one_compares_method_and_path():
    request_ = {**REQUEST, "query": "any=1", "operation": "orders.create"}
    checks = {check.name: check for check in verifier().explain(v1(), **request_)}
    operation = checks["operation"]
    assert (operation.state, operation.signed, operation.actual) == ("passed", "POST /orders", "POST /orders")


def test_an_explanation_passes_its_request_to_the_step_up_gate():
    seen = []
    gate = verifier(step_up=lambda intent, request: not seen.append(request))
    gate.explain(mint_example(requires_step_up=True).header, **REQUEST, request="fresh")
    assert seen == ["fresh"]


def test_an_explanation_burns_no_nonce_but_sees_a_burnt_one():
    subject, header = verifier(), mint_example().header
    assert subject.explain(header, **REQUEST)[-1].state == "passed"
    assert reason(header, subject) is None
    assert subject.explain(header, **REQUEST)[-1].reason == "replayed"
