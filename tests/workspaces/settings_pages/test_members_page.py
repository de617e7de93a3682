"""The page of members: admins invite, change roles and remove; everything is in the audit log."""

import json
import re
from email.header import decode_header, make_header
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.core import mail
from django.test import Client
from django.utils import timezone

from tests.page_text import read_html
from tests.sign_in import sign_in_user
from workspaces.models import AuditEntry, Invitation, Membership
from workspaces.settings_pages.role_descriptions import ROLE_DESCRIPTIONS

pytestmark = pytest.mark.django_db
PAGE = "/w/lumen-books/production/members"
INVITATIONS = "/w/lumen-books/production/invitations"


def join(workspace, name, role):
    user = get_user_model().objects.create_user(name, f"{name}@example.com")
    Membership.objects.create(workspace=workspace.workspace, user=user, role=role)
    return user


@pytest.fixture
def ada(workspace):
    return join(workspace, "ada", Membership.ADMIN)


@pytest.fixture
def admin(ada):
    return sign_in_user(ada)


@pytest.fixture
def vic(workspace):
    return join(workspace, "vic", Membership.VIEWER)


def actions(workspace):
    entries = AuditEntry.objects.filter(workspace_id=workspace.workspace.pk).order_by("id")
    return [(entry.action, entry.facts) for entry in entries.exclude(action__startswith="workspace")]


def role_of(user):
    return Membership.objects.get(user=user).role


def test_an_invitation_shows_its_link_once_after_a_redirect(admin, workspace):
    answer = admin.post(f"{PAGE}/invite", {"email": "Bob@Example.com", "role": "editor"})
    assert (answer.status_code, answer["Location"]) == (303, PAGE)
    page = admin.get(PAGE).content.decode()
    link = re.search(r"http://testserver(/invitations/[\w-]{43})", page)[1]
    assert "Send this link yourself." in page
    assert link not in admin.get(PAGE).content.decode()
    assert Client().get(link).status_code == 200
    assert ("member invited", {"email": "bob@example.com", "role": "editor"}) in actions(workspace)
    assert mail.outbox == []


def test_with_a_mail_server_the_link_is_sent_too(admin, settings):
    settings.EMAIL_URL = "smtp://localhost"
    admin.post(f"{PAGE}/invite", {"email": "bob@example.com", "role": "viewer"})
    page = admin.get(PAGE).content.decode()
    (message,) = mail.outbox
    assert message.to == ["bob@example.com"]
    assert re.search(r"http://testserver/invitations/[\w-]{43}", message.body)[0] in page
    assert "Sent by e-mail." in page


def test_the_subject_of_an_invitation_shows_an_encoded_word_as_it_is(admin, workspace, settings):
    settings.EMAIL_URL = "smtp://localhost"
    workspace.workspace.name = "=?utf-8?q?=41?="
    workspace.workspace.save()
    admin.post(f"{PAGE}/invite", {"email": "bob@example.com", "role": "viewer"})
    subject = mail.outbox[0].message()["Subject"]
    assert str(make_header(decode_header(subject))) == "Join =?utf-8?q?=41?= on Affidavit"


def test_a_mail_server_that_fails_leaves_the_link_on_the_page(admin, settings):
    settings.EMAIL_URL = "smtp://127.0.0.1:1"
    settings.EMAIL_BACKEND = "wire.mail.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    assert admin.post(f"{PAGE}/invite", {"email": "bob@example.com", "role": "viewer"}).status_code == 303
    page = read_html(admin.get(PAGE))
    assert "The mail server did not take it. Send this link yourself." in page


@pytest.mark.parametrize(
    ("form", "email_faults", "role_faults"),
    [
        ({"email": "bob", "role": "viewer"}, ["This is not an e-mail address."], []),
        ({"email": "bob@example.com", "role": "owner"}, [], ["Choose one of the roles."]),
        ({}, ["Enter an e-mail address."], ["Choose a role."]),
        (
            {"email": f"bob@{'long.' * 55}example.com", "role": "viewer"},
            ["An e-mail address has at most 254 characters."],
            [],
        ),
    ],
)
def test_a_wrong_invitation_is_shown_beside_its_field(admin, form, email_faults, role_faults):
    answer = admin.post(f"{PAGE}/invite", form)
    assert answer.status_code == 200
    form_html = answer.content.decode().partition('id="invite-email"')[2].partition("</fieldset>")[0]
    listed = [re.findall(r'<p class="fault"[^>]*>([^<]*)</p>', part) for part in form_html.split("<fieldset")]
    assert listed == [email_faults, role_faults]
    assert not Invitation.objects.exists()


def test_a_second_invitation_replaces_the_first(admin):
    for role in ("viewer", "editor"):
        admin.post(f"{PAGE}/invite", {"email": "bob@example.com", "role": role})
    assert [invitation.role for invitation in Invitation.objects.all()] == ["editor"]


def test_an_invitation_can_be_revoked(admin, workspace):
    admin.post(f"{PAGE}/invite", {"email": "bob@example.com", "role": "viewer"})
    link = re.search(r"/invitations/[\w-]{43}", admin.get(PAGE).content.decode())[0]
    pk = Invitation.objects.get().pk
    for _ in range(2):
        assert admin.post(f"{INVITATIONS}/{pk}/revoke").status_code == 303
    assert Client().get(link).status_code == 410
    assert [action for action, _ in actions(workspace)].count("invitation revoked") == 1


def test_changed_roles_are_in_the_log(admin, vic, workspace):
    assert admin.post(f"{PAGE}/{vic.pk}/role", {"role": "editor"})["Location"] == PAGE
    assert role_of(vic) == "editor"
    assert ("role changed", {"member": "vic", "from": "viewer", "to": "editor"}) in actions(workspace)
    admin.post(f"{PAGE}/{vic.pk}/role", {"role": "owner"})
    assert role_of(vic) == "editor"


def test_a_member_is_removed_in_two_steps(admin, vic, workspace):
    page = admin.get(PAGE, {"remove": vic.pk}).content.decode()
    assert "Remove vic?" in page
    assert admin.post(f"{PAGE}/{vic.pk}/remove")["Location"] == PAGE
    assert sign_in_user(vic).get("/w/lumen-books/production/overview").status_code == 404
    assert ("member removed", {"member": "vic", "role": "viewer"}) in actions(workspace)


def test_the_last_admin_cannot_be_removed(admin, ada, vic):
    for address, form in ((f"{PAGE}/{ada.pk}/remove", {}), (f"{PAGE}/{ada.pk}/role", {"role": "viewer"})):
        answer = admin.post(address, form)
        assert "A workspace needs an admin." in admin.get(answer["Location"]).content.decode()
        assert role_of(ada) == "admin"


def test_an_operator_may_remove_the_last_admin(browser_client, ada):
    browser_client.post(f"{PAGE}/{ada.pk}/remove")
    assert not Membership.objects.filter(user=ada).exists()


def test_an_admin_who_leaves_goes_to_the_first_page(admin, ada, workspace):
    join(workspace, "bea", Membership.ADMIN)
    assert admin.post(f"{PAGE}/{ada.pk}/remove")["Location"] == "/"


def test_an_admin_who_gives_up_the_own_role_goes_to_a_page_that_the_new_role_may_see(admin, ada, workspace):
    join(workspace, "bea", Membership.ADMIN)
    answer = admin.post(f"{PAGE}/{ada.pk}/role", {"role": "viewer"}, headers={"referer": f"http://testserver{PAGE}"})
    assert role_of(ada) == "viewer"
    assert admin.get(answer["Location"]).status_code == 200


@pytest.mark.parametrize("role", [Membership.VIEWER, Membership.EDITOR])
def test_only_admins_see_or_change_members(workspace, ada, role):
    client = sign_in_user(join(workspace, role, role))
    assert client.get(PAGE).status_code == 403
    assert client.get(f"{PAGE}.json").status_code == 403
    for action in ("invite", f"{ada.pk}/role", f"{ada.pk}/remove"):
        assert client.post(f"{PAGE}/{action}", {"email": "bob@example.com", "role": "admin"}).status_code == 403
    assert role_of(ada) == "admin"
    assert not Invitation.objects.exists()


def test_members_of_another_workspace_cannot_be_changed(admin, other_workspace):
    stranger = join(other_workspace, "stranger", Membership.VIEWER)
    assert admin.post(f"{PAGE}/{stranger.pk}/role", {"role": "admin"}).status_code == 404
    admin.post(f"{PAGE}/{stranger.pk}/remove")
    assert role_of(stranger) == "viewer"
    assert admin.get("/w/other-shop/production/members").status_code == 404


def test_the_tables_can_be_downloaded(admin, vic):
    admin.post(f"{PAGE}/invite", {"email": "bob@example.com", "role": "viewer"})
    tables = json.loads(admin.get(f"{PAGE}.json").getvalue())["tables"]
    assert [(row["member"], row["role"], row["secondFactor"]) for row in tables["members"]] == [
        ("ada", "admin", "no"),
        ("vic", "viewer", "no"),
    ]
    assert [row["email"] for row in tables["invitations"]] == ["bob@example.com"]


def test_the_page_shows_when_somebody_last_signed_in(admin, vic):
    assert ">never<" in admin.get(PAGE).content.decode()
    vic.last_login = timezone.now()
    vic.save()
    assert ">never<" not in admin.get(PAGE).content.decode()


def test_the_page_names_the_operators_and_has_no_table_without_members(browser_client, workspace):
    get_user_model().objects.create_superuser("olga")
    get_user_model().objects.create_superuser("gone", is_active=False)
    page = browser_client.get(PAGE).content.decode()
    assert "who can open every workspace: " in page
    assert "olga" in page
    assert "gone" not in page
    assert "<table" not in page
    assert "No members yet" in page


def test_a_form_without_its_csrf_value_changes_nothing(ada, vic):
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(ada)
    assert careful.post(f"{PAGE}/{vic.pk}/role", {"role": "admin"}).status_code == 403
    assert role_of(vic) == "viewer"


@pytest.mark.parametrize("role", Membership.ROLES)
def test_the_page_says_of_a_role_what_operating_md_says(role):
    text = (Path(__file__).parents[3] / "docs/operating.md").read_text()
    documented = re.search(rf"^\| {role} \| (.+) \|$", text, re.MULTILINE)[1]
    words = [[word.rstrip("s,") for word in line.lower().split()] for line in (documented, ROLE_DESCRIPTIONS[role])]
    assert words[0] == words[1]  # but for "read" and "reads"
