"""A revoked or expired key is refused from the next request on."""

from datetime import timedelta

import pytest
from django.utils import timezone

from workspaces.keys.digest import hash_key
from workspaces.keys.prefix import find_named_key
from workspaces.keys.revoke import revoke_key
from workspaces.models import ApiKey, AuditEntry

pytestmark = pytest.mark.django_db
OUTCOMES = {"outcomes": []}


def test_the_next_request_after_a_revocation_is_refused(api, workspace):
    assert api.post("/api/conversation-outcomes", OUTCOMES).status_code == 200
    key = find_named_key(workspace.full_key)
    assert revoke_key(key, actor="ada", now=timezone.now())
    answer = api.post("/api/conversation-outcomes", OUTCOMES)
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid-api-key")
    assert not revoke_key(key, actor="ada", now=timezone.now())
    assert [entry.facts["key"] for entry in AuditEntry.objects.filter(action="key revoked")] == [key.prefix]


@pytest.mark.parametrize(
    "address", ["/api/conversation-outcomes", "/api/catalog", "/w/lumen-books/production/drift.json"]
)
def test_an_expired_key_is_refused_with_the_time_at_which_it_ended(api, workspace, address):
    end = timezone.now().replace(microsecond=0)
    ApiKey.objects.filter(digest=hash_key(workspace.full_key)).update(expires_at=end)
    answer = api.post(address, OUTCOMES) if address.startswith("/api/conv") else api.get(address)
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid-api-key")
    assert f"{end:%Y-%m-%d %H:%M} UTC" in answer.json()["detail"]


def test_a_key_works_until_its_end(api, workspace):
    ApiKey.objects.update(expires_at=timezone.now() + timedelta(seconds=60))
    assert api.post("/api/conversation-outcomes", OUTCOMES).status_code == 200
