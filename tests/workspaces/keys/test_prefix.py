"""A key is found by its first characters."""

import pytest
from django.utils import timezone

from wire.errors import InvalidRequest, NotFound
from workspaces.keys.digest import hash_key
from workspaces.keys.prefix import find_named_key
from workspaces.models import ApiKey

pytestmark = pytest.mark.django_db


def test_a_key_is_found_by_its_first_characters_or_the_whole_key(workspace):
    row = ApiKey.objects.get(digest=hash_key(workspace.report_key))
    for text in (workspace.report_key, workspace.report_key[:12], workspace.report_key[:10]):
        assert find_named_key(text) == row


def test_ambiguous_first_characters_list_the_matching_keys(workspace):
    ApiKey.objects.filter(kind="secret").update(prefix="gak_SamePre1")
    ApiKey.objects.filter(name="report").update(prefix="gak_SamePre2")
    with pytest.raises(InvalidRequest) as caught:
        find_named_key("gak_SamePre")
    assert "gak_SamePre1 (platform, lumen-books)" in caught.value.detail
    assert "gak_SamePre2 (report, lumen-books)" in caught.value.detail


def test_revoked_keys_do_not_make_first_characters_ambiguous(workspace):
    ApiKey.objects.filter(kind="secret").update(prefix="gak_SamePre1")
    ApiKey.objects.filter(kind="secret").exclude(name="report").update(revoked_at=timezone.now())
    assert find_named_key("gak_SamePre1").name == "report"


@pytest.mark.parametrize("text", ["", "gak_", "gak_1", "gak_NoSuchKeyAtAll"])
def test_too_few_or_too_many_characters_are_refused(workspace, text):
    with pytest.raises(InvalidRequest):
        find_named_key(text)


def test_unknown_first_characters_are_not_found(workspace):
    with pytest.raises(NotFound):
        find_named_key("gak_000000")
