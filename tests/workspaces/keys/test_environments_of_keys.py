"""Wherever a key names an environment, it must be one that it may use (contract 1)."""

import uuid

import pytest
from django.urls import get_resolver
from django.utils import timezone

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


def test_a_decision_needs_a_key_for_the_environment_of_its_confirmation(api, staging_key):
    body = BODIES["/api/confirmations"]()
    for environment, status in (("production", 403), ("staging", 200)):
        confirmation = api.post("/api/confirmations", {**body, "environment": environment}).json()["confirmationId"]
        address = f"/api/confirmations/{confirmation}/decision"
        assert api.post(address, {"decision": "confirm"}, key=staging_key).status_code == status


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


def test_the_settings_are_not_open_to_keys(api):
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
