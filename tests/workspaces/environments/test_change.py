"""Environments are added, labelled, archived and restored. A mistyped name in a call never makes an environment."""

import uuid

import pytest
from django.utils import timezone

from wire.errors import InvalidRequest
from workspaces.environments.add import MAX_ENVIRONMENTS, create_environment
from workspaces.environments.change import archive_environment, change_environment, restore_environment
from workspaces.models import AuditEntry

pytestmark = pytest.mark.django_db


def stamp():
    return {"actor": "ada", "now": timezone.now()}


@pytest.fixture
def shop(workspace):
    return workspace.workspace


@pytest.fixture
def staging(shop):
    return shop.environments.get(name="staging")


def test_a_new_environment_has_its_own_audience(shop):
    environment = create_environment(shop, "qa", label=" Quality ", **stamp())
    assert (str(environment), environment.audience) == ("Quality", "urn:affidavit:lumen-books:qa")
    assert AuditEntry.objects.get(action="environment created").facts["environment"] == "qa"


@pytest.mark.parametrize("name", ["", "QA", "qa!", "q a", "x" * 61, "staging", "production"])
def test_an_invalid_environment_is_refused(shop, name):
    with pytest.raises(InvalidRequest):
        create_environment(shop, name, **stamp())
    assert shop.environments.count() == 2


def test_there_are_at_most_fifty_environments(shop):
    for number in range(MAX_ENVIRONMENTS - 2):
        create_environment(shop, f"e{number}", **stamp())
    with pytest.raises(InvalidRequest, match="at most 50"):
        create_environment(shop, "one-more", **stamp())


def test_a_call_with_a_mistyped_environment_makes_none(api, shop):
    bodies = {
        "/api/conversation-outcomes": {"outcomes": []},
        "/api/witness-reports": {"reportId": str(uuid.uuid4()), "observations": []},
    }
    for address, body in bodies.items():
        answer = api.post(address, {**body, "environment": "stagign"})
        assert (answer.status_code, answer.json()["code"]) == (400, "unknown-environment")
    assert shop.environments.count() == 2


def test_label_and_audience_can_change_but_not_the_name(staging):
    change_environment(staging, label="Stage", audience="urn:example:stage", **stamp())
    staging.refresh_from_db()
    assert (staging.name, staging.label, staging.audience) == ("staging", "Stage", "urn:example:stage")
    facts = AuditEntry.objects.get(action="environment changed").facts
    assert facts["audience"] == ["urn:affidavit:lumen-books:staging", "urn:example:stage"]
    change_environment(staging, label="Stage", audience="urn:example:stage", **stamp())
    assert AuditEntry.objects.filter(action="environment changed").count() == 1


@pytest.mark.parametrize("audience", ["", "x" * 256, "urn: a", "urn:\na", "urn:affidavit:lumen-books:production"])
def test_an_invalid_audience_is_refused(staging, audience):
    with pytest.raises(InvalidRequest):
        change_environment(staging, label="", audience=audience, **stamp())


def test_a_new_environment_never_shares_its_audience_with_another(shop, staging):
    change_environment(staging, label="", audience="urn:affidavit:lumen-books:qa", **stamp())
    with pytest.raises(InvalidRequest, match="staging has the audience"):
        create_environment(shop, "qa", **stamp())
    change_environment(staging, label="", audience="urn:example:stage", **stamp())
    assert create_environment(shop, "qa", **stamp()).audience == "urn:affidavit:lumen-books:qa"


def test_new_intents_have_the_new_audience(api, staging):
    change_environment(staging, label="", audience="urn:example:stage", **stamp())
    call = {"environment": "staging", "sub": "u", "operation": "GET /a", "args": {}}
    assert api.post("/api/intents", call).json()["payload"]["aud"] == "urn:example:stage"


def test_machines_cannot_name_an_archived_environment_until_it_is_restored(api, browser_client, staging):
    body = {"environment": "staging", "outcomes": []}
    archive_environment(staging, **stamp())
    refused = api.post("/api/conversation-outcomes", body)
    assert (refused.json()["code"], refused.json()["environments"]) == ("unknown-environment", ["production"])
    page = browser_client.get("/w/lumen-books/staging/outcomes")
    assert page.status_code == 200
    assert "staging was archived" in page.content.decode()
    download = browser_client.get("/api/catalog?workspace=lumen-books&environment=staging")
    assert download.status_code == 200
    restore_environment(staging, **stamp())
    assert api.post("/api/conversation-outcomes", body).status_code == 200
    assert AuditEntry.objects.filter(action__in=("environment archived", "environment restored")).count() == 2


def test_production_cannot_be_archived(shop):
    with pytest.raises(InvalidRequest, match="always exists"):
        archive_environment(shop.environments.get(name="production"), **stamp())
