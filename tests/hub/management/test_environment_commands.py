"""`manage.py create_environment` and `manage.py close_v1`."""

import json

import pytest

from hub.local.startup_errors import StartupError
from tests.hub.management.test_key_commands import run
from workspaces.models import AuditEntry

pytestmark = pytest.mark.django_db


def test_an_environment_is_created(workspace, api):
    created = json.loads(run("create_environment", "lumen-books", "qa", "--label", "Quality", "--json"))
    assert created == {"environment": "qa", "label": "Quality", "audience": "urn:affidavit:lumen-books:qa"}
    assert api.post("/api/conversation-outcomes", {"environment": "qa", "outcomes": []}).status_code == 200
    assert "audience urn:affidavit:lumen-books:dev" in run("create_environment", workspace.workspace.id, "dev")


@pytest.mark.parametrize("name", ["QA", "staging"])
def test_an_invalid_environment_is_refused_in_one_line(workspace, name):
    with pytest.raises(StartupError) as caught:
        run("create_environment", "lumen-books", name)
    assert "\n" not in str(caught.value)


def test_version_1_is_closed_and_opened_again(workspace):
    output = run("close_v1", "lumen-books", "--at", "2026-12-31T00:00Z")
    assert "until 2026-12-31 00:00 UTC. 0 of 0 accepted calls" in output
    workspace.workspace.refresh_from_db()
    assert workspace.workspace.v1_until.isoformat() == "2026-12-31T00:00:00+00:00"
    assert "without end" in run("close_v1", "lumen-books", "--open")
    workspace.workspace.refresh_from_db()
    assert workspace.workspace.v1_until is None
    assert AuditEntry.objects.filter(action="version 1 window set").count() == 2
    with pytest.raises(StartupError, match="2027-01-01"):
        run("close_v1", "lumen-books", "--at", "tomorrow")


def test_an_empty_time_does_not_open_version_1(workspace):  # as --at "$END" is in a script that does not set END
    run("close_v1", "lumen-books", "--at", "2026-12-31T00:00Z")
    with pytest.raises(StartupError, match="'' is no date"):
        run("close_v1", "lumen-books", "--at", "")
    workspace.workspace.refresh_from_db()
    assert workspace.workspace.v1_until is not None
