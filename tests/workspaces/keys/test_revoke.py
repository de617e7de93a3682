"""A revoked or expired key is refused from the next request on, and a key can be named by its first characters."""

from datetime import timedelta

import pytest
from django.utils import timezone

from wire.errors import InvalidRequest, NotFound
from workspaces.keys.lookup import hash_key
from workspaces.keys.revoke import find_key, revoke_key
from workspaces.models import ApiKey, AuditEntry

pytestmark = pytest.mark.django_db
OUTCOMES = {"outcomes": []}


def test_the_next_request_after_a_revocation_is_refused(api, workspace):
    assert api.post("/api/conversation-outcomes", OUTCOMES).status_code == 200
    key = find_key(workspace.full_key)
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


def test_a_key_is_found_by_its_first_characters_or_the_whole_key(workspace):
    row = ApiKey.objects.get(digest=hash_key(workspace.report_key))
    for text in (workspace.report_key, workspace.report_key[:12], workspace.report_key[:10]):
        assert find_key(text) == row


def test_ambiguous_first_characters_list_the_matching_keys(workspace):
    ApiKey.objects.filter(kind="secret").update(prefix="gak_SamePre1")
    ApiKey.objects.filter(name="report").update(prefix="gak_SamePre2")
    with pytest.raises(InvalidRequest) as caught:
        find_key("gak_SamePre")
    assert "gak_SamePre1 (platform, lumen-books)" in caught.value.detail
    assert "gak_SamePre2 (report, lumen-books)" in caught.value.detail


def test_revoked_keys_do_not_make_first_characters_ambiguous(workspace):
    ApiKey.objects.filter(kind="secret").update(prefix="gak_SamePre1")
    ApiKey.objects.filter(kind="secret").exclude(name="report").update(revoked_at=timezone.now())
    assert find_key("gak_SamePre1").name == "report"


@pytest.mark.parametrize("text", ["", "gak_", "gak_1", "gak_NoSuchKeyAtAll"])
def test_too_few_or_too_many_characters_are_refused(workspace, text):
    with pytest.raises(InvalidRequest):
        find_key(text)


def test_unknown_first_characters_are_not_found(workspace):
    with pytest.raises(NotFound):
        find_key("gak_000000")
