"""A refused request of a known key is counted once, by endpoint and code. Nothing of its content is stored."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.signals import request_finished
from django.db import OperationalError, close_old_connections, connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from affidavit import make_key
from catalog.downloads import api as catalog_downloads
from hub.web.stream_limit import STREAM_SLOT, StreamSlot
from wire.http.body import BODY_BROKEN, BODY_TOO_SLOW, MAX_BODY_BYTES
from wire.http.bounded_lists import MAX_ITEMS
from workspaces import refusal_middleware as refusal_counts
from workspaces.keys.create import store_new_key
from workspaces.keys.revoke import revoke_key
from workspaces.limits import limiter
from workspaces.models import ApiKey, RefusalTally, Workspace
from workspaces.refusal_middleware import name_endpoint
from workspaces.refusals import counter

pytestmark = pytest.mark.django_db
OUTCOMES, CATALOG = "/api/conversation-outcomes", "/api/catalog"
ENDPOINT = f"POST {OUTCOMES}"
SECRET_VALUE = "ann@example.org"


@pytest.fixture(autouse=True)
def _write_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counter, "WRITE_SECONDS", 0.0)


def tallies() -> list[tuple[str, str, str, int]]:
    """Return the tallies of refused requests: the first characters of the key, the endpoint, the code, the number."""
    rows = RefusalTally.objects.order_by("endpoint", "code").select_related("api_key")
    return [(row.api_key.prefix, row.endpoint, row.code, row.count) for row in rows]


def new_key(workspace: Workspace, kind: str = ApiKey.SECRET, scopes: tuple[str, ...] = ("report",), **more: Any) -> str:
    return store_new_key(workspace, kind, scopes, now=timezone.now(), **more)


REFUSALS: dict[str, dict[str, Any]] = {
    "invalid-json": {"body": b"{"},
    "invalid-request": {"body": {"outcomes": [{"conversationId": SECRET_VALUE}]}},
    "batch-too-large": {"body": {"outcomes": [{}] * (MAX_ITEMS + 1)}},
    "unknown-environment": {"body": {"environment": SECRET_VALUE, "outcomes": []}},
    "unsupported-media-type": {"body": {}, "headers": {"Content-Type": "text/plain"}},
    "invalid-encoding": {"body": b"{}", "headers": {"Content-Encoding": "gzip"}},
    "body-too-large": {"body": b" " * (MAX_BODY_BYTES + 1)},
    "invalid-idempotency-key": {"body": {"outcomes": []}, "headers": {"Idempotency-Key": ""}},
}


@pytest.mark.parametrize("code", REFUSALS)
def test_each_refusal_of_a_body_is_counted_once_without_any_value_of_it(api, workspace, code):
    assert api.post(OUTCOMES, **REFUSALS[code]).json()["code"] == code
    assert tallies() == [(workspace.full_key[:12], ENDPOINT, code, 1)]
    assert SECRET_VALUE not in str(RefusalTally.objects.values())


@pytest.fixture
def _kept_connection() -> Iterator[None]:
    """Keep the connection of the test's transaction when a response is closed within a request."""
    request_finished.disconnect(close_old_connections)
    yield
    request_finished.connect(close_old_connections)


@pytest.mark.usefixtures("_kept_connection")
def test_a_download_that_is_refused_because_too_many_are_being_sent_is_counted(api, workspace, monkeypatch):
    monkeypatch.setattr(catalog_downloads, "MAX_WHOLE_BYTES", 0)
    slots = threading.Semaphore(1)
    slot, refused_slot = StreamSlot(slots), StreamSlot(slots)
    assert api.client.get(CATALOG, headers={"x-service-api-key": api.key}, **{STREAM_SLOT: slot}).status_code == 200
    answer = api.client.get(CATALOG, headers={"x-service-api-key": api.key}, **{STREAM_SLOT: refused_slot})
    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (429, "rate-limited", "20")
    assert tallies() == [(workspace.full_key[:12], f"GET {CATALOG}", "rate-limited", 1)]
    for used_slot in (refused_slot, slot, slot):
        used_slot.release()
    assert [StreamSlot(slots).take() for _ in range(2)] == [True, False]


def test_the_same_refusal_adds_to_the_row_of_its_hour_and_an_accepted_request_to_none(api, workspace):
    for _ in range(3):
        api.post(OUTCOMES, b"{")
    assert api.post(OUTCOMES, {"outcomes": []}).status_code == 200
    rows = list(RefusalTally.objects.order_by("starts_at"))
    assert (len({tally.starts_at for tally in rows}), sum(tally.count for tally in rows)) == (len(rows), 3)
    for tally in rows:  # one, or two if the test runs across the turn of an hour
        assert tally.starts_at <= tally.first_at <= tally.last_at < tally.starts_at + timedelta(hours=1)


def test_a_publishable_an_expired_and_a_revoked_key_are_known_though_none_is_valid(api, workspace):
    publishable = new_key(workspace.workspace, ApiKey.PUBLISHABLE, ())
    expired = new_key(workspace.workspace, expires_at=timezone.now() - timedelta(days=1))
    revoked = new_key(workspace.workspace)
    revoke_key(workspace.workspace.api_keys.get(prefix=revoked[:12]), actor="ann", now=timezone.now())
    codes = {publishable: "publishable-key-refused", expired: "invalid-api-key", revoked: "invalid-api-key"}
    for key, code in codes.items():
        assert api.post(OUTCOMES, {"outcomes": []}, key=key).json()["code"] == code
    assert sorted(tallies()) == sorted((key[:12], ENDPOINT, code, 1) for key, code in codes.items())


def test_a_flood_of_unknown_malformed_and_missing_keys_writes_nothing(api, workspace):
    with CaptureQueriesContext(connection) as queries:
        for prefix in ("gak_", "pk_"):
            for _ in range(20):
                assert api.post(OUTCOMES, {"outcomes": []}, key=make_key(prefix)).status_code in (401, 403)
        for key in ("gak_", "pk_wrong", "x" * 1000, "\u00e9", ""):
            assert api.post(OUTCOMES, {"outcomes": []}, key=key).status_code in (401, 403)
        assert api.client.post(OUTCOMES, b"{}", content_type="application/json").status_code == 401
    assert [query["sql"] for query in queries if not query["sql"].lstrip().startswith("SELECT")] == []
    assert tallies() == []


def test_a_key_over_its_rate_is_counted_without_a_look_at_the_database_for_each(settings, api, workspace, monkeypatch):
    monkeypatch.setattr(counter, "WRITE_SECONDS", 1000.0)
    settings.RATE_LIMIT = 1
    limiter.get_limiter.cache_clear()
    with CaptureQueriesContext(connection) as queries:
        refused = [api.post(OUTCOMES, {"outcomes": []}).status_code for _ in range(30)].count(429)
    assert refused >= 20
    written = [query for query in queries if "refusaltally" in query["sql"]]
    assert len(written) == 1
    monkeypatch.setattr(counter.get_counter(), "_due_at", 0.0)
    api.client.get("/sign-in")  # any later request writes the counts since the last write
    assert tallies() == [(workspace.full_key[:12], ENDPOINT, "rate-limited", refused)]


def test_an_address_over_its_limit_is_neither_counted_nor_looked_up(settings, api, workspace):
    publishable = new_key(workspace.workspace, ApiKey.PUBLISHABLE, ())
    settings.ADDRESS_RATE_LIMIT = 2
    limiter.get_limiter.cache_clear()
    codes = []
    for _ in range(30):
        with CaptureQueriesContext(connection) as queries:
            codes.append(api.post(OUTCOMES, {"outcomes": []}, key=publishable).json()["code"])
        is_looked_up = any("workspaces_apikey" in query["sql"] for query in queries)
        assert is_looked_up == (codes[-1] != "rate-limited")
    assert codes.count("rate-limited") >= 20
    passed = codes.count("publishable-key-refused")
    assert tallies() == [(publishable[:12], ENDPOINT, "publishable-key-refused", passed)]


@pytest.mark.parametrize(("member", "code"), [(BODY_TOO_SLOW, "body-too-slow"), (BODY_BROKEN, "invalid-request")])
def test_a_body_that_did_not_arrive_is_counted_for_its_key(api, workspace, member, code):
    answer = api.client.post(
        OUTCOMES, b"", content_type="application/json", headers={"x-service-api-key": api.key}, **{member: True}
    )
    assert answer.json()["code"] == code
    assert tallies() == [(workspace.full_key[:12], ENDPOINT, code, 1)]


@pytest.mark.parametrize("member", [BODY_TOO_SLOW, BODY_BROKEN])
def test_bodies_that_did_not_arrive_are_looked_up_within_the_limit_of_the_address(settings, api, workspace, member):
    settings.ADDRESS_RATE_LIMIT = 2
    limiter.get_limiter.cache_clear()
    with CaptureQueriesContext(connection) as queries:
        for _ in range(20):
            headers = {"x-service-api-key": make_key("gak_")}
            api.client.post(OUTCOMES, b"", content_type="application/json", headers=headers, **{member: True})
    assert len([query for query in queries if "workspaces_apikey" in query["sql"]]) <= 3


def test_wrong_methods_scopes_environments_and_addresses_are_counted_where_they_were_sent(api, workspace):
    key = new_key(workspace.workspace, environment_names=["staging"])
    assert api.get(OUTCOMES, key=key).status_code == 405
    assert api.post("/api/conversations", {"conversations": []}, key=key).status_code == 403
    assert api.post(OUTCOMES, {"outcomes": []}, key=key).status_code == 403
    assert api.post("/api/outcome", {}, key=key).status_code == 404
    assert api.get("/w/lumen-books/staging/audit.json", key=key).status_code == 403
    assert api.get("/w/no-such/staging/catalog.json", key=key).status_code == 404
    assert tallies() == [
        (key[:12], "GET /api/conversation-outcomes", "method-not-allowed", 1),
        (key[:12], "GET /w/…", "not-found", 1),
        (key[:12], "GET /w/…", "scope-missing", 1),
        (key[:12], "POST /api/conversation-outcomes", "scope-missing", 1),
        (key[:12], "POST /api/conversations", "scope-missing", 1),
        (key[:12], "POST unknown address", "not-found", 1),
    ]


def test_an_endpoint_is_named_without_the_values_in_its_address(api, workspace):
    assert api.post("/api/confirmations/ann/decision", {"decision": "confirm"}).status_code == 404
    assert [endpoint for _, endpoint, _, _ in tallies()] == ["POST /api/confirmations/{confirmation_id}/decision"]
    request = RequestFactory().generic("BREW", OUTCOMES)
    request.resolver_match = None
    assert name_endpoint(request) == f"other {OUTCOMES}"


def test_a_call_that_waits_for_a_confirmation_is_not_counted(api, workspace):
    answer = api.post("/api/intents", {"sub": "user_1", "operation": "POST /orders", "args": {}})
    assert answer.json()["code"] == "confirmation-required"
    assert tallies() == []


def test_a_key_refused_by_another_workspace_is_counted_in_its_own(api, workspace, other_workspace):
    assert api.get(f"/w/{other_workspace.workspace.slug}/production/catalog.json").status_code == 404
    assert {row.workspace_id for row in RefusalTally.objects.all()} == {workspace.workspace.pk}


def test_a_key_of_a_removed_workspace_writes_nothing(api, workspace):
    Workspace.objects.filter(pk=workspace.workspace.pk).update(removed_at=timezone.now())
    api.post(OUTCOMES, b"{")
    assert tallies() == []


@pytest.mark.parametrize("name", ["record_refusals", "_find_key_id"])
def test_a_count_that_cannot_be_stored_leaves_the_answer_as_it_is(api, workspace, monkeypatch, caplog, name):
    def fail(*_: Any) -> None:
        raise OperationalError("gone")

    expected = api.post(OUTCOMES, b"{")
    monkeypatch.setattr(refusal_counts, name, fail)
    with caplog.at_level(logging.WARNING, "affidavit.refusals"):
        answer = api.post(OUTCOMES, b"{")
    assert (answer.status_code, answer.json()["detail"]) == (expected.status_code, expected.json()["detail"])
    assert [record.message for record in caplog.records] == ["refused requests were not counted: OperationalError"]


def test_monitors_write_nothing(api, workspace, monkeypatch):
    monkeypatch.setattr(counter, "WRITE_SECONDS", 1000.0)
    api.post(OUTCOMES, b"{")
    api.post(OUTCOMES, b"{")
    monkeypatch.setattr(counter.get_counter(), "_due_at", 0.0)
    Client().get("/healthz")
    assert [count for *_, count in tallies()] == [1]
    Client().get("/sign-in")
    assert [count for *_, count in tallies()] == [2]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("download", ["overview.json", "joins.csv"])
def test_a_download_loses_no_count_of_its_process(workspace, browser_client, caplog, download):
    key = ApiKey.objects.get(prefix=workspace.full_key[:12])
    counter.get_counter().add(key.pk, ENDPOINT, "not-found", now=timezone.now())
    answer = browser_client.get(f"/w/lumen-books/production/{download}")
    assert (answer.status_code, answer.streaming) == (200, True)
    answer.getvalue()
    assert caplog.records == []
    Client().get("/sign-in")
    assert tallies() == [(key.prefix, ENDPOINT, "not-found", 1)]
