"""Invitations by link: new people make an account, others sign in, and only the invited person gets in."""

import re
import threading
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth import get_user_model
from django.db import connections
from django.test import Client
from django.utils import timezone

from tests.sign_in import sign_in_user
from workspaces.models import AuditEntry, Invitation, Membership
from workspaces.people.errors import MembershipFault
from workspaces.people.invitations.accept import WrongAddress, accept_invitation, create_invited_user
from workspaces.people.invitations.invite import VALID_FOR, find_invitation, invite, revoke_invitation

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FORM = {"username": "ada", "password": "a long enough secret"}


@pytest.fixture
def token(workspace):
    return invite(workspace.workspace, "ada@example.com", "editor", actor="olga", now=timezone.now())[1]


@pytest.fixture
def address(token):
    return f"/invitations/{token}"


def test_only_a_digest_of_the_token_is_stored(token):
    stored = bytes(Invitation.objects.get().digest)
    assert len(stored) == 32
    assert token.encode() not in stored


@pytest.mark.parametrize(("age", "works"), [(VALID_FOR - timedelta(seconds=1), True), (VALID_FOR, False)])
def test_an_invitation_works_for_seven_days(workspace, age, works):
    _, token = invite(workspace.workspace, "ada@example.com", "editor", actor="olga", now=NOW)
    assert (find_invitation(token, now=NOW + age) is not None) is works


@pytest.mark.django_db(transaction=True)
def test_an_invitation_sent_twice_at_once_is_one_open_invitation(workspace):
    barrier = threading.Barrier(2)

    def send() -> None:
        for _ in range(5):
            barrier.wait(30)
            invite(workspace.workspace, "ada@example.com", "editor", actor="olga", now=NOW)
        connections.close_all()

    threads = [threading.Thread(target=send) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert Invitation.objects.count() == 1


def test_opening_the_link_neither_signs_in_nor_uses_the_invitation(client, address):
    for _ in range(2):
        answer = client.get(address)
        assert "Lumen Books" in answer.content.decode()
        assert "sessionid" not in answer.cookies
        assert "no-store" in answer["Cache-Control"]


def test_a_new_person_chooses_name_and_password_and_is_a_member(client, address, workspace):
    answer = client.post(address, FORM)
    assert (answer.status_code, answer["Location"]) == (302, "/w/lumen-books/production/overview")
    assert client.get(answer["Location"]).status_code == 200
    user = get_user_model().objects.get()
    assert (user.username, user.email, user.check_password(FORM["password"])) == ("ada", "ada@example.com", True)
    assert EmailAddress.objects.get(user=user).verified
    assert Membership.objects.get(user=user).role == "editor"
    actions = [entry.action for entry in AuditEntry.objects.filter(workspace_id=workspace.workspace.pk, actor="ada")]
    assert sorted(actions) == ["member joined", "signed in"]


def test_a_link_works_once(client, address):
    client.post(address, FORM)
    answer = Client().post(address, {**FORM, "username": "eve"})
    assert answer.status_code == 410
    assert "no longer works" in answer.content.decode()
    assert get_user_model().objects.count() == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"password": "short"}, "too short"),
        ({"password": "password123"}, "too common"),
        ({"password": "1234567890123"}, "entirely numeric"),
        ({"username": "a da"}, "Enter a valid username"),
        ({"username": "eve@example.com"}, "has to be your own"),
        ({"username": "OLGA"}, "is taken"),
        ({"username": "\uff2flga"}, "is taken"),  # a full-width O, which is stored as O: two names that differ in case
        ({"username": ""}, "Choose a user name."),
    ],
)
def test_an_error_is_shown_at_its_field_and_the_link_stays_valid(client, address, change, message):
    get_user_model().objects.create_user("olga")
    answer = client.post(address, {**FORM, **change})
    assert answer.status_code == 200
    page = unescape(answer.content.decode())
    (name,) = change
    faults = re.findall(rf'<p class="fault" id="id_{name}-fault">([^<]*)</p>', page)
    assert [fault for fault in faults if message in fault]
    assert page.count('class="fault"') == len(faults)
    assert f'aria-describedby="id_{name}-fault"' in page.partition(f'<input id="id_{name}"')[2].partition(">")[0]
    assert find_invitation(address.removeprefix("/invitations/"), now=timezone.now())
    assert get_user_model().objects.count() == 1


def test_a_person_with_an_account_is_asked_to_sign_in_first(client, address):
    create_invited_user("ada@example.com", now=NOW)
    page = client.get(address).content.decode()
    assert f"/sign-in?next={address}" in page
    assert 'type="password"' not in page
    client.post(address, FORM)
    assert not Membership.objects.exists()
    assert get_user_model().objects.count() == 1


def test_a_person_who_is_signed_in_accepts_with_a_button(address):
    client = sign_in_user(create_invited_user("ada@example.com", now=NOW))
    assert "Accept as ada@example.com" in client.get(address).content.decode()
    assert not Membership.objects.exists()
    assert client.post(address).status_code == 303
    assert Membership.objects.get().role == "editor"


def test_another_signed_in_person_sees_why_they_cannot_accept(address):
    eve = sign_in_user(create_invited_user("eve@example.com", now=NOW))
    page = eve.get(address).content.decode()
    assert "You are signed in as eve@example.com" in page
    assert "Sign out and continue" in page
    assert eve.post(address).status_code == 409
    assert not Membership.objects.exists()
    assert eve.post("/sign-out", {"next": address})["Location"] == address


def test_an_account_without_an_address_takes_that_of_a_link_by_an_operator(workspace):
    operator = get_user_model().objects.create_superuser("operator")
    _, token = invite(workspace.workspace, "ada@example.com", "editor", actor="operator", now=timezone.now())
    sign_in_user(operator).post(f"/invitations/{token}")
    assert EmailAddress.objects.get(user=operator).verified
    assert Membership.objects.get().user == operator


def test_an_admin_cannot_give_an_operator_without_an_address_an_address_of_the_admin_s_choice(address):
    """Whoever reads the mail of an account's address can set a new password."""
    operator = get_user_model().objects.create_superuser("operator")
    client = sign_in_user(operator)
    assert "invitation is for ada@example.com" in client.get(address).content.decode()
    assert client.post(address).status_code == 409
    assert not EmailAddress.objects.exists()
    operator.refresh_from_db()
    assert not operator.email


def test_an_account_without_an_address_does_not_take_that_of_another_account(address):
    create_invited_user("ada@example.com", now=NOW)
    operator = get_user_model().objects.create_superuser("operator")
    assert sign_in_user(operator).post(address).status_code == 409
    assert not Membership.objects.exists()


def test_a_member_keeps_the_role_and_is_not_invited_again(workspace):
    ada = create_invited_user("ada@example.com", now=NOW)
    invitation, _ = invite(workspace.workspace, "ada@example.com", "admin", actor="olga", now=NOW)
    Membership.objects.create(workspace=workspace.workspace, user=ada, role="viewer")
    assert accept_invitation(invitation, ada, now=NOW).role == "viewer"
    with pytest.raises(MembershipFault, match="a member already"):
        invite(workspace.workspace, "ADA@example.com", "admin", actor="olga", now=NOW)


def test_an_invitation_of_another_person_or_a_revoked_one_cannot_be_accepted(workspace):
    ada, eve = (create_invited_user(f"{name}@example.com", now=NOW) for name in ("ada", "eve"))
    invitation, token = invite(workspace.workspace, "ada@example.com", "admin", actor="olga", now=NOW)
    with pytest.raises(WrongAddress):
        accept_invitation(invitation, eve, now=NOW)
    revoke_invitation(invitation, actor="olga", now=NOW)
    with pytest.raises(MembershipFault, match="no longer works"):
        accept_invitation(invitation, ada, now=NOW)
    assert find_invitation(token, now=NOW) is None


def test_an_invitation_to_a_removed_workspace_is_not_found(client, address, workspace):
    workspace.workspace.removed_at = timezone.now()
    workspace.workspace.save()
    assert client.get(address).status_code == 410


def test_an_invitation_of_somebody_else_cannot_be_accepted_by_its_number(workspace, token):
    eve = sign_in_user(create_invited_user("eve@example.com", now=NOW))
    assert eve.post(f"/account/invitations/{Invitation.objects.get().pk}").status_code == 404
    assert not Membership.objects.exists()


def test_an_account_made_with_another_workspace_s_link_does_not_get_in_without_the_link(
    client, address, workspace, other_workspace
):
    """An admin sees the links of their own invitations, so that they can open one to any address themselves."""
    client.post(address, FORM)
    invitation, token = invite(other_workspace.workspace, "ada@example.com", "admin", actor="olga", now=timezone.now())
    for page in ("/account", f"/w/{workspace.workspace.slug}/production/overview"):
        assert "Join Other Shop" not in client.get(page).content.decode()
    assert client.post(f"/account/invitations/{invitation.pk}").status_code == 404
    assert Membership.objects.get().workspace == workspace.workspace
    assert client.post(f"/invitations/{token}").status_code == 303


def test_all_workspaces_of_a_person_are_in_the_menu(workspace, other_workspace):
    ada = create_invited_user("ada@example.com", now=NOW)
    for created in (workspace, other_workspace):
        invitation, _ = invite(created.workspace, "ada@example.com", "viewer", actor="olga", now=NOW)
        accept_invitation(invitation, ada, now=NOW)
    page = sign_in_user(ada).get("/w/other-shop/production/overview").content.decode()
    assert "/w/lumen-books/production/overview" in page


def test_there_is_no_open_sign_up(client, db):
    for address in ("/account/signup", "/account/signup/", "/accounts/signup/", "/signup"):
        assert client.get(address).status_code == 404
