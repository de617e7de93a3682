"""Environments are added. A mistyped name in a call never makes one."""

import uuid

import pytest
from django.utils import timezone

from wire.errors import InvalidRequest
from workspaces.environments.add import MAX_ENVIRONMENTS, create_environment
from workspaces.environments.change import change_environment
from workspaces.models import AuditEntry

pytestmark = pytest.mark.django_db


def stamp():
    return {"actor": "ada", "now": timezone.now()}


def test_a_new_environment_has_its_own_audience(shop):
    environment = create_environment(shop, "qa", label=" Quality ", **stamp())
    assert (str(environment), environment.audience) == ("Quality", "urn:affidavit:lumen-books:qa")
    assert AuditEntry.objects.get(action="environment created").facts["environment"] == "qa"


@pytest.mark.parametrize("name", ["", "QA", "qa!", "q a", "x" * 61, "staging", "production"])
def test_an_invalid_environment_is_refused(shop, name):
    with pytest.raises(InvalidRequest):
        create_environment(shop, name, **stamp())
    assert shop.environments.count() == 2


@pytest.mark.parametrize("name", ["all", "none"])  # as in `compare=none`, and in tables for every environment
def test_a_word_that_stands_for_no_or_every_environment_is_refused_as_a_name(shop, name):
    with pytest.raises(InvalidRequest, match=f"^Choose another name than {name}: "):
        create_environment(shop, name, **stamp())
    assert create_environment(shop, f"{name}-1", **stamp()).name == f"{name}-1"


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


def test_a_new_environment_never_shares_its_audience_with_another(shop, staging):
    change_environment(staging, label="", audience="urn:affidavit:lumen-books:qa", **stamp())
    with pytest.raises(InvalidRequest, match="staging has the audience"):
        create_environment(shop, "qa", **stamp())
    change_environment(staging, label="", audience="urn:example:stage", **stamp())
    assert create_environment(shop, "qa", **stamp()).audience == "urn:affidavit:lumen-books:qa"
