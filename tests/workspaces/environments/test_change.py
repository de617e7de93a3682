"""Environments are labelled, archived and restored."""

import pytest
from django.utils import timezone

from wire.errors import InvalidRequest
from workspaces.environments.change import archive_environment, change_environment, restore_environment
from workspaces.models import AuditEntry

pytestmark = pytest.mark.django_db


def stamp():
    return {"actor": "ada", "now": timezone.now()}


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
