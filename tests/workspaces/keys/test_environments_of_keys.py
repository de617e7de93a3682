"""Wherever a request names an environment, its key must be allowed to use that environment (contract §1)."""

import uuid

import pytest
from django.urls import get_resolver
from django.utils import timezone

from outcomes.broken_joins.moves.move import move_broken_joins
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from tests.catalog.reports import deliver, observation
from tests.page_text import read_html
from wire.time.period import parse_period
from workspaces.keys.create import create_key
from workspaces.models import ApiKey

pytestmark = pytest.mark.django_db
CALL = {"sub": "user_1", "operation": "GET /orders", "args": {}}
BODIES = {
    "/api/conversation-outcomes": lambda: {"outcomes": []},
    "/api/conversations": lambda: {"conversations": []},
    "/api/witness-reports": lambda: {"reportId": str(uuid.uuid4()), "observations": []},
    "/api/verification-reports": lambda: {"reportId": str(uuid.uuid4()), "verifications": []},
    "/api/intents": lambda: CALL,
    "/api/confirmations": lambda: {**CALL, "operation": "POST /orders", "summary": "Order"},
    "/api/intents/verify": lambda: {"method": "GET", "path": "/orders"},
}
DOWNLOADS = [
    "/api/catalog",
    "/api/catalog/openapi.json",
    "/api/catalog/schemas.json",
    "/api/catalog/tools.json",
    "/api/catalog/mcp.json",
    "/api/witness-rules",
]
PAGES = ["overview", "catalog", "drift", "outcomes", "joins", "rejections", "confirmations"]


@pytest.fixture
def staging_key(workspace):
    return create_key(
        workspace.workspace, ApiKey.SCOPES, environment_names=["staging"], actor="test", now=timezone.now()
    ).text


@pytest.mark.parametrize("address", BODIES)
def test_an_endpoint_refuses_other_environments(api, staging_key, address):
    body = BODIES[address]()
    for members in ({}, {"environment": "production"}):
        refused = api.post(address, {**body, **members}, key=staging_key)
        assert (refused.status_code, refused.json()["code"]) == (403, "scope-missing")
        assert "only: staging" in refused.json()["detail"]
    answer = api.post(address, {**body, "environment": "staging"}, key=staging_key)
    assert answer.status_code < 300 or answer.json()["code"] == "intent-rejected"
    unknown = api.post(address, {**body, "environment": "qa"}, key=staging_key)
    assert (unknown.status_code, unknown.json()["environments"]) == (400, ["staging"])


@pytest.mark.parametrize("address", DOWNLOADS)
def test_a_download_refuses_other_environments(api, staging_key, address):
    assert api.get(address, key=staging_key).json()["code"] == "scope-missing"
    assert api.get(address, key=staging_key, environment="production").status_code == 403
    assert api.get(address, key=staging_key, environment="staging").status_code == 200


@pytest.mark.parametrize("suffix", ["", ".json", ".csv"])
@pytest.mark.parametrize("page", PAGES)
def test_a_page_refuses_other_environments(api, staging_key, page, suffix):
    refused = api.get(f"/w/lumen-books/production/{page}{suffix}", key=staging_key)
    assert refused.status_code == 403
    assert api.get(f"/w/lumen-books/staging/{page}{suffix}", key=staging_key).status_code == 200


def test_a_page_of_an_unknown_environment_names_only_those_that_the_key_may_use(api, staging_key, workspace):
    unknown = api.get("/w/-/qa/overview.json", key=staging_key)
    assert (unknown.status_code, unknown.json()["environments"]) == (400, ["staging"])
    assert "production" not in unknown.json()["detail"]
    refused = api.get("/w/-/qa/overview.json", key=workspace.platform_key)
    assert (refused.status_code, refused.json()["code"]) == (403, "scope-missing")


def test_a_decision_needs_a_key_for_the_environment_of_its_confirmation(api, staging_key):
    body = BODIES["/api/confirmations"]()
    for environment, status in (("production", 403), ("staging", 200)):
        confirmation = api.post("/api/confirmations", {**body, "environment": environment}).json()["confirmationId"]
        address = f"/api/confirmations/{confirmation}/decision"
        assert api.post(address, {"decision": "confirm"}, key=staging_key).status_code == status


def test_an_answer_of_another_environment_is_not_replayed(api, staging_key, workspace):
    headers = {"Idempotency-Key": "call_81"}
    minted = api.post("/api/intents", CALL, headers=headers)
    assert minted.status_code == 201
    refused = api.post("/api/intents", CALL, key=staging_key, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "scope-missing")
    assert "Idempotent-Replayed" not in refused
    assert api.post("/api/intents", CALL, headers=headers)["Idempotent-Replayed"] == "true"
    body = BODIES["/api/confirmations"]()
    confirmation = api.post("/api/confirmations", body).json()["confirmationId"]
    address, decision = f"/api/confirmations/{confirmation}/decision", {"decision": "confirm"}
    assert api.post(address, decision, headers=headers).status_code == 200
    assert api.post(address, decision, key=staging_key, headers=headers).status_code == 403


def test_a_restricted_key_repeats_its_own_requests(api, staging_key):
    body, headers = {**CALL, "environment": "staging"}, {"Idempotency-Key": "call_82"}
    first, second = (api.post("/api/intents", body, key=staging_key, headers=headers) for _ in range(2))
    assert (first.status_code, second.json(), second["Idempotent-Replayed"]) == (201, first.json(), "true")


def test_pages_of_an_environment_tell_a_restricted_key_nothing_of_another(api, staging_key, workspace):
    """An id, an outcome key and an operation that only production knows are in no export of staging."""
    now = timezone.now()
    production = workspace.workspace.environments.get(name="production")
    register_conversations(production, [Arrival("prod-secret-2", now)], now=now)
    record_outcomes(production, [Report("prod-secret-2", "hidden-key")], now=now)
    deliver(api, workspace, observation(path="/hidden-path"))
    broken = {"environment": "staging", "outcomes": [{"conversationId": "PROD-secret-2", "outcomeKey": "won"}]}
    assert api.post("/api/conversation-outcomes", broken).status_code == 200
    start = "/w/-/staging"
    pages = ("joins", "outcomes", "outcome?key=won", "overview", "catalog", "difference",
             "conversation?id=PROD-secret-2", "search?q=prod-secret-2", "search?q=hidden")  # fmt: skip
    for page in pages:
        name, _, query = page.partition("?")
        text = api.get(f"{start}/{name}.json?{query}", key=staging_key).getvalue().decode()
        for secret in ("prod-secret-2", "hidden-key", "hidden-path", '"production"'):
            assert secret not in text, (page, secret)
    assert "prod-secret-2" in api.get(f"{start}/joins.json").getvalue().decode()  # an unlimited key reads it
    for page in (
        "outcomes.json?compare=production",
        "outcome.json?compare=production",
        "difference.json?against=production",
    ):
        assert api.get(f"{start}/{page}", key=staging_key).status_code == 400
        assert api.get(f"{start}/{page}").status_code == 200


def test_a_page_needs_the_scope_report(api, workspace):
    refused = api.get("/w/lumen-books/production/drift.json", key=workspace.platform_key)
    assert (refused.status_code, refused.json()["code"]) == (403, "scope-missing")


def test_an_archived_environment_is_unknown_to_machines(api, workspace):
    workspace.workspace.environments.filter(name="staging").update(archived_at=timezone.now())
    answers = [
        api.post("/api/conversation-outcomes", {"environment": "staging", "outcomes": []}),
        api.get("/api/catalog", environment="staging"),
        api.get("/w/lumen-books/staging/drift.json"),
    ]
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(400, "unknown-environment")] * 3


def test_the_page_of_keys_is_not_open_to_keys(api):
    assert api.get("/w/lumen-books/production/keys.json").status_code == 403


def test_every_download_is_tested():
    names = {
        f"/api/{pattern.pattern}"
        for resolver in get_resolver().url_patterns
        if str(resolver.pattern) == "api/"
        for app in getattr(resolver, "url_patterns", [])
        for pattern in app.url_patterns
        if "catalog" in str(pattern.pattern) or "witness-rules" in str(pattern.pattern)
    }
    assert names == set(DOWNLOADS)


def test_pages_tell_a_restricted_key_of_moves_but_not_from_which_environment(api, staging_key, workspace):
    now = timezone.now()
    production, staging = (workspace.workspace.environments.get(name=name) for name in ("production", "staging"))
    register_conversations(staging, [Arrival("moved", now)], now=now)
    record_outcomes(production, [Report("moved", "won")], now=now)
    assert move_broken_joins(production, staging, parse_period({}, now=now), actor="ann", now=now)
    for page in ("joins.json", "overview.json", "outcomes.json", "conversation.json?id=moved"):
        assert "production" not in api.get(f"/w/-/staging/{page}", key=staging_key).getvalue().decode(), page
    for page in ("joins", "outcomes", "overview"):
        text = read_html(api.get(f"/w/-/staging/{page}", key=staging_key))
        assert "1 moved here from another environment" in text, page
    assert '"production"' in api.get("/w/-/staging/joins.json").getvalue().decode()  # an unlimited key reads it
