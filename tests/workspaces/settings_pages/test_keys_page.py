"""The page of API keys: admins create keys, which are shown once, and revoke them in two steps."""

import json
import re

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from tests.at_once import run_twice_at_once
from tests.page_text import read_html
from tests.sign_in import sign_in_as
from workspaces.create import create_workspace
from workspaces.keys.digest import hash_key
from workspaces.models import ApiKey, Membership

pytestmark = pytest.mark.django_db
PAGE = "/w/lumen-books/production/keys"
FORM = {"name": "orders-api", "kind": "secret", "scopes": ["report"], "everywhere": "no", "environments": ["staging"]}


def test_a_new_key_is_shown_once_after_a_redirect_and_works(admin, api):
    answer = admin.post(f"{PAGE}/create", {**FORM, "expires_on": "2099-01-31"})
    assert (answer.status_code, answer["Location"]) == (303, f"{PAGE}#new")
    page = admin.get(PAGE)
    text = page.context["new_keys"][0]["text"]
    assert page.content.decode().count(text) == 1
    assert text not in admin.get(PAGE).content.decode()
    key = ApiKey.objects.get(digest=hash_key(text))
    assert (key.name, key.scopes, key.environment_names, key.created_by) == (
        "orders-api",
        ["report"],
        ["staging"],
        "admin",
    )
    assert f"{key.expires_at:%Y-%m-%d %H:%M}" == "2099-01-31 00:00"
    assert api.get("/api/catalog", key=text, environment="staging").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_two_keys_that_are_created_at_the_same_moment_are_both_shown(admin):
    run_twice_at_once(lambda: admin.post(f"{PAGE}/create", FORM))
    page = admin.get(PAGE)
    texts = {new_key["text"] for new_key in page.context["new_keys"]}
    assert {hash_key(text) for text in texts} == set(
        ApiKey.objects.filter(name="orders-api").values_list("digest", flat=True)
    )
    assert len(texts) == 2
    ids = re.findall(r' id="([^"]+)"', page.content.decode())
    assert sorted(ids) == sorted(set(ids))
    assert set(re.findall(r'data-copy="(new-key[^"]*)"', page.content.decode())) == {"new-key", "new-key-2"}
    assert not admin.get(PAGE).context["new_keys"]


def test_a_new_key_is_not_lost_on_the_page_of_another_workspace(admin):
    other = create_workspace("Other", actor="test", now=timezone.now()).workspace
    Membership.objects.create(workspace=other, user=get_user_model().objects.get(), role=Membership.ADMIN)
    admin.post(f"{PAGE}/create", FORM)
    assert not admin.get("/w/other/production/keys").context["new_keys"]
    assert len(admin.get(PAGE).context["new_keys"]) == 1


def test_the_page_is_never_stored_by_a_browser(admin):
    for address in (PAGE, PAGE):
        cache = admin.get(address)["Cache-Control"]
        assert "no-store" in cache
        assert "private" in cache


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": ""}, "Say who will use it."),
        ({"scopes": []}, "Choose at least one."),
        ({"environments": []}, "Choose at least one, or all environments."),
        ({"environments": ["qa"]}, "qa is not one of the available choices"),
        ({"expires_on": "tomorrow"}, "Enter a date as 2027-01-31."),
        ({"expires_on": "2001-01-01"}, "would have expired already"),
        ({"kind": "magic"}, "magic is not one of the available choices"),
    ],
)
def test_a_form_with_errors_keeps_the_input_and_makes_no_key(admin, change, message):
    before = ApiKey.objects.count()
    page = admin.post(f"{PAGE}/create", {**FORM, **change}).content.decode()
    assert message in page
    assert ('value="orders-api"' in page) is ("name" not in change)
    assert ("key-expiry-help key-expiry-fault" in page) is (change.get("expires_on") == "tomorrow")
    assert ApiKey.objects.count() == before


def test_a_publishable_key_needs_no_scope(admin):
    admin.post(f"{PAGE}/create", {"name": "shop", "kind": "publishable", "scopes": ["report"], "everywhere": "yes"})
    assert ApiKey.objects.get(name="shop").scopes == []
    page = read_html(admin.get(PAGE))
    assert "anybody may see it" in page
    assert "secret store" not in page.partition('id="new"')[2].partition("</section>")[0]


def test_revoking_asks_first_and_says_what_will_stop(admin, api, workspace):
    api.get("/api/catalog")
    key = ApiKey.objects.get(digest=hash_key(workspace.full_key))
    question = admin.get(f"{PAGE}?revoke={key.pk}").content.decode()
    assert "It was last used <time" in question
    assert "invalid-api-key" in question
    assert api.get("/api/catalog").status_code == 200
    answer = admin.post(f"{PAGE}/{key.pk}/revoke")
    assert (answer.status_code, answer["Location"]) == (303, f"{PAGE}?done={key.pk}")
    assert api.get("/api/catalog").status_code == 401
    done = read_html(admin.get(f"{PAGE}?done={key.pk}"))
    assert f"<code>{key}</code> is revoked: its requests are refused from now on" in done
    assert key.prefix in admin.get(PAGE).content.decode()
    assert "is revoked: its requests" not in admin.get(PAGE).content.decode()


def test_the_list_explains_the_last_use_and_says_for_which_keys_it_is_not_recorded(admin, api):
    api.get("/api/catalog")
    page = admin.get(PAGE).content.decode()
    assert "Its last use is exact to 5 minutes; refused" in page
    cells = [" ".join(cell.split("</td>")[0].split()) for cell in page.split('<td data-is="Last used">')[1:]]
    kinds = list(ApiKey.objects.order_by("-id").values_list("kind", "last_used_at"))
    for cell, (kind, last_used_at) in zip(cells, kinds, strict=True):
        if kind == ApiKey.PUBLISHABLE:
            assert "not recorded" in cell
        else:
            assert ("<time" if last_used_at else "never") in cell


def test_keys_are_listed_by_their_first_characters_and_an_expired_one_is_marked(admin, workspace):
    ApiKey.objects.filter(name="platform").update(expires_at=timezone.now())
    page = admin.get(PAGE).content.decode()
    assert workspace.platform_key[:12] in page
    assert workspace.platform_key not in page
    assert "expired" in page
    keys = json.loads(b"".join(admin.get(f"{PAGE}.json").streaming_content))["tables"]["keys"]
    assert {key["keyId"] for key in keys} == {key.prefix for key in ApiKey.objects.all()}


def test_the_list_and_its_download_have_the_scopes_of_each_key(admin, workspace):
    page = admin.get(PAGE).content.decode()
    exported = json.loads(admin.get(f"{PAGE}.json").getvalue())["tables"]["keys"]
    scopes = {key["keyId"]: key["scopes"] for key in exported}
    keys = workspace.workspace.api_keys.all()
    assert {len(key.scopes) for key in keys} == {0, 1, len(ApiKey.SCOPES)}
    for key in keys:
        row = page.partition(f'<tr id="key-{key.pk}"')[2].partition("</tr>")[0]
        assert re.findall('<span class="tag">(.*?)</span>', row) == scopes[key.prefix].split() == key.scopes
        assert ("none: publishable" in row) == (key.kind == ApiKey.PUBLISHABLE)


@pytest.mark.parametrize("role", [Membership.VIEWER, Membership.EDITOR])
def test_lower_roles_can_neither_open_nor_use_the_page(workspace, role):
    client = sign_in_as(role, workspace)
    key = ApiKey.objects.first()
    assert client.get(PAGE).status_code == 403
    assert client.get(f"{PAGE}.json").status_code == 403
    assert client.post(f"{PAGE}/create", FORM).status_code == 403
    assert client.post(f"{PAGE}/{key.pk}/revoke").status_code == 403
    assert PAGE not in client.get("/w/lumen-books/production/overview").content.decode()
    assert not ApiKey.objects.exclude(revoked_at=None).exists()


def test_a_key_of_another_workspace_is_not_found(admin, other_workspace):
    foreign_key = ApiKey.objects.get(digest=hash_key(other_workspace.full_key))
    assert admin.post(f"{PAGE}/{foreign_key.pk}/revoke").status_code == 404
    assert "to_revoke" not in admin.get(f"{PAGE}?revoke={foreign_key.pk}").content.decode()
    assert ApiKey.objects.get(pk=foreign_key.pk).revoked_at is None
    assert admin.get(PAGE.replace("lumen-books", "other-shop")).status_code == 404


def test_admins_find_the_settings_in_the_side_bar(admin):
    page = admin.get("/w/lumen-books/staging/overview").content.decode()
    assert '/w/lumen-books/staging/keys" data-go="s"' in page
