"""Keys are created with scopes, environments, and an optional end."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from wire.errors import InvalidRequest
from workspaces.errors import UnknownEnvironment
from workspaces.keys.create import create_key
from workspaces.keys.digest import hash_key
from workspaces.models import ApiKey, AuditEntry

pytestmark = pytest.mark.django_db


def create(workspace, *scopes, **options):
    return create_key(workspace.workspace, scopes, actor="ada", now=timezone.now(), **options)


def test_a_key_is_made_with_scopes_environments_name_and_end(workspace):
    end = timezone.now() + timedelta(days=30)
    new_key = create(workspace, "report", name=" orders-api ", environment_names=["staging"], expires_at=end)
    row = ApiKey.objects.get(digest=hash_key(new_key.text))
    assert (row.name, row.scopes, row.environment_names, row.expires_at) == ("orders-api", ["report"], ["staging"], end)
    assert (row.prefix, row.created_by) == (new_key.text[:12], "ada")
    assert new_key.as_json() == {
        "keyId": new_key.text[:12], "secretKey": new_key.text, "scopes": ["report"], "environments": ["staging"],
    }  # fmt: skip


def test_an_unlimited_key_lists_all_environments_of_its_workspace(workspace):
    assert create(workspace, "platform", "report").as_json()["environments"] == ["production", "staging"]


def test_a_publishable_key_has_no_scope(workspace):
    new_key = create(workspace, kind=ApiKey.PUBLISHABLE, name="shop")
    assert new_key.as_json()["publishableKey"].startswith("pk_")
    with pytest.raises(InvalidRequest):
        create(workspace, "report", kind=ApiKey.PUBLISHABLE)


def test_a_misspelt_environment_is_refused_with_those_that_exist(workspace):
    with pytest.raises(UnknownEnvironment) as caught:
        create(workspace, "report", environment_names=["stagign"])
    assert caught.value.extra == {"environments": ["production", "staging"]}
    assert workspace.workspace.environments.count() == 2


def test_an_archived_environment_cannot_be_named(workspace):
    workspace.workspace.environments.filter(name="staging").update(archived_at=timezone.now())
    with pytest.raises(UnknownEnvironment):
        create(workspace, "report", environment_names=["staging"])


@pytest.mark.parametrize(
    ("scopes", "options"),
    [
        ((), {}),
        (("admin",), {}),
        (("report",), {"name": "x" * 101}),
        (("report",), {"name": "a\0b"}),
        (("report",), {"expires_at": timezone.now() - timedelta(days=1)}),
        (("report",), {"expires_at": datetime(9999, 12, 31, 23, tzinfo=UTC)}),
    ],
)
def test_an_invalid_key_is_refused_and_not_made(workspace, scopes, options):
    before = ApiKey.objects.count()
    with pytest.raises(InvalidRequest):
        create(workspace, *scopes, **options)
    assert ApiKey.objects.count() == before


def test_the_audit_log_names_a_key_by_its_prefix_only(workspace):
    new_key = create(workspace, "report", name="orders-api")
    entry = AuditEntry.objects.get(action="key created")
    assert (entry.actor, entry.facts["key"], entry.facts["scopes"]) == ("ada", new_key.text[:12], ["report"])
    assert new_key.text[12:] not in str(entry.facts)
