"""The checks, bounds and errors of contract §1, for every `MachineView`."""

from __future__ import annotations

import gzip
import json
import re
import uuid
from collections.abc import Callable, Mapping
from typing import Any
from unittest import mock

import psycopg
import pytest
from django.db import OperationalError, connection
from django.http import HttpResponse
from django.test import Client
from django.urls import get_resolver

from affidavit import make_key, mint_intent
from tests.reload_workspace import reload_workspace
from tests.wire.http.declared import assert_declared
from wire.http.machine_view import MachineView
from workspaces.create import NewWorkspace
from workspaces.keys.create import store_new_key
from workspaces.models import ApiKey

pytestmark = pytest.mark.django_db

Body = dict[str, Any]
DECISION = "api/confirmations/<str:confirmation_id>/decision"

# A valid body for every endpoint. The tests also send it with the key of another workspace, which rejects the intent.
BODIES: Mapping[str, Callable[[NewWorkspace], Body]] = {
    "api/conversation-outcomes": lambda _: {"outcomes": [{"conversationId": "c1", "outcomeKey": "purchase"}]},
    "api/conversations": lambda _: {"conversations": [{"conversationId": "c1"}]},
    "api/witness-reports": lambda _: {"reportId": str(uuid.uuid4()), "observations": [observation()]},
    "api/verification-reports": lambda _: {"reportId": str(uuid.uuid4()), "verifications": [{"result": "accepted"}]},
    "api/intents": lambda _: {"sub": "user_1", "operation": "GET /orders", "args": {}},
    "api/intents/verify": lambda created: {"header": intent(created), "method": "GET", "path": "/orders"},
    "api/confirmations": lambda _: {"sub": "user_1", "operation": "POST /a", "args": {}, "summary": "Order a book"},
    DECISION: lambda _: {"decision": "confirm"},
    "api/annotations": lambda _: {"text": "Deploy 4.2"},
}
BATCHES = {
    "api/conversation-outcomes": "outcomes",
    "api/conversations": "conversations",
    "api/witness-reports": "observations",
    "api/verification-reports": "verifications",
}


def intent(created: NewWorkspace) -> str:
    workspace = created.workspace
    audience = workspace.environments.get(name="production").audience
    call = {"sub": "user_1", "aud": audience, "operation": "GET /orders", "args": {}}
    return mint_intent(created.signing_secret, tenant_id=workspace.id, **call).header


def observation() -> dict[str, Any]:
    return {"method": "GET", "path": "/orders", "status": 200, "count": 1}


def list_endpoints() -> dict[str, type[MachineView]]:
    """Return every MachineView under /api/, by its address."""
    views = {}
    for entry, value in flatten_patterns(get_resolver().url_patterns):
        view = getattr(value.callback, "view_class", None) or getattr(value.callback, "cls", None)
        if view and issubclass(view, MachineView):
            views[entry] = view
    return views


def flatten_patterns(patterns: list[Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows = []
    for pattern in patterns:
        address = prefix + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            rows += flatten_patterns(pattern.url_patterns, address)
        else:
            rows.append((address, pattern))
    return rows


@pytest.fixture
def workspace(module_workspace: NewWorkspace) -> NewWorkspace:
    return reload_workspace(module_workspace)


@pytest.fixture(params=sorted(BODIES))
def endpoint(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def address(endpoint: str, api: Any) -> str:
    if endpoint != DECISION:
        return f"/{endpoint}"
    confirmation = api.post("/api/confirmations", BODIES["api/confirmations"](api)).json()
    return f"/api/confirmations/{confirmation['confirmationId']}/decision"


@pytest.fixture
def good_body(endpoint: str, workspace: NewWorkspace) -> Callable[[], Body]:
    return lambda: BODIES[endpoint](workspace)


@pytest.fixture
def batch(endpoint: str) -> str:
    return BATCHES.get(endpoint) or pytest.skip("this endpoint takes no batch")


@pytest.fixture
def _has_environment(endpoint: str) -> None:
    if endpoint == DECISION:
        pytest.skip("a confirmation knows its environment")


@pytest.fixture
def send(
    endpoint: str, address: str, good_body: Callable[[], Body], workspace: NewWorkspace
) -> Callable[..., HttpResponse]:
    client = Client(raise_request_exception=False)

    def post(body: Any = None, *, key: str | None = None, method: str = "POST", **headers: str) -> HttpResponse:
        raw = body if isinstance(body, bytes) else json.dumps(good_body() if body is None else body).encode()
        all_headers = {"x-service-api-key": workspace.full_key if key is None else key}
        all_headers = {name: value for name, value in {**all_headers, **headers}.items() if value}
        all_headers["Content-Type"] = all_headers.pop("content_type", "application/json")
        response = client.generic(method, address, raw, headers=all_headers)
        assert_declared(endpoint, "post", response)
        return response

    return post


def code_of(response: HttpResponse) -> str:
    assert response["Content-Type"] == "application/problem+json"
    problem = response.json()
    assert set(problem) >= {"type", "title", "status", "detail", "code", "requestId"}
    assert problem["status"] == response.status_code
    assert problem["requestId"] == response["X-Request-Id"]
    return problem["code"]


def test_no_endpoint_is_left_out_of_this_table():
    assert set(list_endpoints()) == set(BODIES)


def test_a_good_body_is_accepted(send):
    response = send()
    assert response.status_code in (200, 201, 202), response.content
    assert response["X-Request-Id"].startswith("req_")


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"])
def test_a_wrong_method_is_refused_before_anything_else(send, endpoint, method):
    methods = [name.upper() for name in list_endpoints()[endpoint].http_method_names]
    if method in methods:
        pytest.skip("this endpoint has this method too")
    response = send(key="", method=method)
    assert response.status_code == 405
    assert response["Allow"] == ", ".join(methods)


def test_a_missing_key_is_401_with_a_challenge(send):
    response = send(key="")
    assert (response.status_code, code_of(response)) == (401, "missing-api-key")
    assert "WWW-Authenticate" in response


UNKNOWN_KEYS = {
    "unknown": make_key("gak_"),
    "mistyped": "gak_" + "x" * 32,
    "cut": "gak_",
    "else": "other",
    "odd": "gak_ü",
}


@pytest.mark.parametrize("key", UNKNOWN_KEYS.values(), ids=UNKNOWN_KEYS)
def test_an_unknown_or_mistyped_key_is_401_and_not_repeated(send, key):
    response = send(key=key)
    assert (response.status_code, code_of(response)) == (401, "invalid-api-key")
    assert "WWW-Authenticate" in response
    assert key == "gak_" or key not in response.content.decode()


def test_a_revoked_key_is_401(send, workspace):
    ApiKey.objects.filter(workspace=workspace.workspace).update(revoked_at="2026-01-01T00:00:00Z")
    assert code_of(send()) == "invalid-api-key"


@pytest.mark.parametrize("key", ["pk_", "pk_nonsense", make_key("pk_")], ids=["bare", "nonsense", "unknown"])
def test_a_publishable_key_is_refused_whether_or_not_it_exists(send, workspace, key):
    for refused_key in (key, workspace.publishable_key):
        response = send(key=refused_key)
        assert (response.status_code, code_of(response)) == (403, "publishable-key-refused")


def test_a_key_without_the_scope_is_refused_with_that_reason(send, workspace, endpoint):
    other_scopes = [scope for scope in ApiKey.SCOPES if scope != list_endpoints()[endpoint].scope]
    key = store_new_key(workspace.workspace, ApiKey.SECRET, other_scopes, now=workspace.workspace.created_at)
    response = send(key=key)
    assert (response.status_code, code_of(response)) == (403, "scope-missing")


@pytest.mark.parametrize("content_type", ["text/plain", "application/xml", "application/json; charset=latin-1"])
def test_another_content_type_is_415(send, content_type):
    assert send(content_type=content_type).status_code == 415


def test_another_content_encoding_is_415(send):
    assert send(**{"Content-Encoding": "br"}).status_code == 415


def test_gzip_is_accepted_and_a_broken_one_refused(send, good_body):
    body = gzip.compress(json.dumps(good_body()).encode())
    assert send(body, **{"Content-Encoding": "gzip"}).status_code < 300
    for broken in (body[:-5], b"not gzip", b"", body + b"tail"):
        response = send(broken, **{"Content-Encoding": "gzip"})
        assert (response.status_code, code_of(response)) == (400, "invalid-encoding")


@pytest.mark.parametrize("compressed", [False, True])
def test_a_body_over_4_mib_is_413_also_after_decompression(send, compressed):
    body = b'{"x": "' + b"a" * (4 * 1024 * 1024) + b'"}'
    headers = {"Content-Encoding": "gzip"} if compressed else {}
    response = send(gzip.compress(body) if compressed else body, **headers)
    assert (response.status_code, code_of(response)) == (413, "body-too-large")


INVALID_JSON = {
    "empty": b"",
    "not JSON": b"{",
    "single quotes": b"{'a': 1}",
    "a byte order mark": b"\xef\xbb\xbf{}",
    "not UTF-8": b'{"a": "\xff"}',
    "a duplicate name": b'{"a": 1, "a": 2}',
    "a duplicate name further in": b'{"b": [{"a": 1, "a": 2}]}',
    "a lone surrogate": b'{"a": "\\ud800"}',
    "NUL": b'{"a": "\\u0000"}',
    "NUL in a name": b'{"\\u0000": 1}',
    "NaN": b'{"a": NaN}',
    "Infinity": b'{"a": -Infinity}',
    "overflow": b'{"a": 1e400}',
    "an integer that overflows": b'{"a": 1' + b"0" * 400 + b"}",
    "an integer of 5000 digits": b'{"a": 1' + b"0" * 5000 + b"}",
    "nesting over 128": b"[" * 129 + b"]" * 129,
    "very deep nesting": b"[" * 100_000 + b"]" * 100_000,
}


@pytest.mark.parametrize("body", INVALID_JSON.values(), ids=INVALID_JSON)
def test_what_is_not_strict_json_is_refused(send, body):
    response = send(body)
    assert (response.status_code, code_of(response)) == (400, "invalid-json")


def test_a_nesting_of_128_levels_is_valid_json(send):
    assert code_of(send(b"[" * 128 + b"]" * 128)) == "invalid-request"


@pytest.mark.parametrize("body", [[], None, 1, "text", {}], ids=str)
def test_a_body_of_another_form_is_refused_with_pointers(send, body):
    response = send(json.dumps(body).encode())
    assert (response.status_code, code_of(response)) == (400, "invalid-request")
    for fault in response.json()["errors"]:
        assert set(fault) == {"pointer", "code", "detail"}


WRONG_VALUES = (None, True, 1.5, "x" * 3000, [], {}, [[]], {"a": 1})
WORDS_OF_PYTHON = re.compile(r"\b(dict|dictionary|list|str|float|int|bool|NoneType|No data provided)\b")


def test_faults_speak_of_json_and_not_of_python(send, good_body):
    members = good_body()
    bodies = [value for value in WRONG_VALUES if not isinstance(value, dict)]
    for name, member in members.items():
        bodies += [{**members, name: value} for value in WRONG_VALUES]
        if isinstance(member, list):
            bodies += [{**members, name: [value]} for value in WRONG_VALUES]
            bodies += [
                {**members, name: [{**member[0], inner: value}]} for inner in member[0] for value in WRONG_VALUES
            ]
    answers = [send(json.dumps(body).encode()).json() for body in bodies]
    faults = [fault for answer in answers for fault in answer.get("errors", ())]
    assert {fault["detail"] for fault in faults if fault["pointer"] == ""} == {"Send an object."}
    assert [fault for fault in faults if WORDS_OF_PYTHON.search(fault["detail"])] == []


def test_every_fault_of_a_batch_is_listed_up_to_100(send, good_body, batch):
    body = good_body()
    body[batch] = [{}] * 3
    three_faults = send(body).json()
    assert len({fault["pointer"].split("/")[2] for fault in three_faults["errors"]}) == 3
    body[batch] = [{}] * 300
    many_faults = send(body).json()
    assert len(many_faults["errors"]) == 100
    assert many_faults["errorsTruncated"] is True


def test_more_than_500_items_are_refused_with_the_numbers(send, good_body, batch):
    body = good_body()
    body[batch] *= 501
    response = send(body)
    assert (response.status_code, code_of(response)) == (400, "batch-too-large")
    assert (response.json()["limit"], response.json()["received"]) == (500, 501)


@pytest.mark.usefixtures("_has_environment")
@pytest.mark.parametrize("name", ["Production", "nowhere", "", " production", "production "])
def test_an_unknown_environment_is_refused_with_those_that_exist(send, name, good_body):
    response = send({**good_body(), "environment": name})
    assert (response.status_code, code_of(response)) == (400, "unknown-environment")
    assert response.json()["environments"] == ["production", "staging"]


@pytest.mark.usefixtures("_has_environment")
@pytest.mark.parametrize("name", [None, 1, [], {}], ids=str)
def test_an_environment_that_is_no_string_is_of_the_wrong_form(send, name, good_body):
    response = send({**good_body(), "environment": name})
    assert code_of(response) == "invalid-request"
    assert response.json()["errors"][0]["pointer"] == "/environment"


@pytest.mark.usefixtures("_has_environment")
def test_the_batch_is_counted_before_the_form_is_judged_and_the_form_before_the_environment(send, good_body, batch):
    body = {**good_body(), "environment": "nowhere"}
    body[batch] = [*body[batch] * 500, 7]
    assert code_of(send(body)) == "batch-too-large"
    body[batch] = body[batch][1:]
    assert code_of(send(body)) == "invalid-request"
    body[batch] = body[batch][:-1]
    assert code_of(send(body)) == "unknown-environment"


def test_unknown_members_are_ignored(send, good_body):
    assert send({**good_body(), "somethingNew": {"a": 1}}).status_code < 300


def test_a_valid_request_id_is_kept_and_an_invalid_one_replaced(send):
    assert send(**{"X-Request-Id": "abc-123"})["X-Request-Id"] == "abc-123"
    assert send(**{"X-Request-Id": "a b\tc"})["X-Request-Id"].startswith("req_")


@pytest.mark.parametrize("key", ["", " ", "a b", "ü", "x" * 256])
def test_a_bad_idempotency_key_is_refused(workspace, key, good_body, address):
    client = Client(raise_request_exception=False)
    response = client.generic(
        "POST", address, json.dumps(good_body()), content_type="application/json",
        headers={"x-service-api-key": workspace.full_key, "Idempotency-Key": key},
    )  # fmt: skip
    assert (response.status_code, code_of(response)) == (400, "invalid-idempotency-key")


def test_a_repeated_idempotency_key_gets_the_same_bytes(send, good_body):
    body = json.dumps(good_body()).encode()
    first = send(body, **{"Idempotency-Key": "k1"})
    again = send(body, **{"Idempotency-Key": "k1"})
    assert first.status_code < 300
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert "Idempotent-Replayed" not in first
    assert again["Idempotent-Replayed"] == "true"
    conflict = send({**good_body(), "more": 1}, **{"Idempotency-Key": "k1"})
    assert (conflict.status_code, code_of(conflict)) == (422, "idempotency-key-reused")


def test_an_error_is_not_kept_under_an_idempotency_key(send):
    assert send(b"{}", **{"Idempotency-Key": "k1"}).status_code == 400
    assert send(**{"Idempotency-Key": "k1"}).status_code < 300


def test_a_key_of_another_workspace_is_another_key(send, other_workspace, good_body):
    """The same idempotency key, sent with the API key of another workspace, names another request."""
    body = json.dumps(good_body()).encode()
    assert send(body, **{"Idempotency-Key": "k1"}).status_code < 300
    foreign_answer = send(body, key=other_workspace.full_key, **{"Idempotency-Key": "k1"})
    assert foreign_answer.status_code < 300 or foreign_answer.status_code in (
        403,
        404,
    )  # the other workspace does not have the intent or confirmation
    assert "Idempotent-Replayed" not in foreign_answer


@pytest.mark.parametrize("state", ["53100", "57P03", None], ids=["disk full", "starting up", "connection lost"])
def test_an_unreachable_or_full_database_is_503_and_nothing_is_acknowledged(send, state, good_body):
    body = good_body()
    cause = psycopg.errors.lookup(state)("x") if state else psycopg.OperationalError("x")

    def fail(*args: Any) -> None:
        raise OperationalError("x") from cause

    with (
        connection.execute_wrapper(fail),
        mock.patch.object(connection, "validate_no_atomic_block", lambda: None),
    ):
        response = send(body)
    assert (response.status_code, code_of(response)) == (503, "unavailable")
    assert int(response["Retry-After"]) > 0
