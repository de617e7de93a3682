"""A domain in Unicode and the same in ASCII are one address: one account, whichever spelling was given."""

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from tests.workspaces.people.account_browser import is_signed_in
from tests.workspaces.people.mails import read_mails
from tests.workspaces.people.oidc_provider import ADA, sign_in
from workspaces.models import Invitation, Membership
from workspaces.people.address_spellings import list_spellings, normalize_address
from workspaces.people.errors import MembershipFault
from workspaces.people.invitations.accept import accept_invitation, create_invited_user
from workspaces.people.invitations.invite import invite

UNICODE, ASCII = "ada@bücher.example", "ada@xn--bcher-kva.example"
PASSWORD = "correct horse battery"


@pytest.mark.parametrize(
    ("email", "spelling"),
    [
        (UNICODE, ASCII),
        (" Ada@BÜCHER.Example ", ASCII),
        ("ada@bu\u0308cher.example", ASCII),  # a u, and two dots that combine with it
        ("Ada@XN--BCHER-KVA.example", ASCII),
        ("ada@straße.example", "ada@xn--strae-oqa.example"),
        ("ada@strasse.example", "ada@strasse.example"),
        ("ada@example.com", "ada@example.com"),
        ("ada@\u202e.example", "ada@\u202e.example"),  # no domain
        (f"{'a' * 240}@bücher.example", f"{'a' * 240}@bücher.example"),  # too long in ASCII
        ("bücher", "bücher"),
        ("", ""),
    ],
)
def test_an_address_is_stored_in_one_spelling(email, spelling):
    assert normalize_address(email) == spelling
    assert spelling in list_spellings(email)


def test_both_spellings_are_looked_for_and_no_others():
    assert set(list_spellings(UNICODE)) == set(list_spellings(ASCII)) == {UNICODE, ASCII}
    assert list_spellings("Ada@Example.com") == ["ada@example.com"]
    assert list_spellings("ada@xn--\u202e.example") == ["ada@xn--\u202e.example"]


def store_in_unicode(user: User) -> User:
    """Store the address of an account as it was stored formerly."""
    EmailAddress.objects.filter(user=user).update(email=UNICODE)
    User.objects.filter(pk=user.pk).update(email=UNICODE)
    return user


@pytest.mark.django_db
@pytest.mark.parametrize("was_in_unicode", [False, True])
@pytest.mark.parametrize("spelling", [UNICODE, ASCII])
def test_a_person_signs_in_with_either_spelling(client, settings, spelling, was_in_unicode):
    settings.EMAIL_URL = "smtp://localhost"
    user = create_invited_user(UNICODE, now=timezone.now(), username="ada", password=PASSWORD)
    assert (user.email, EmailAddress.objects.get().email) == (ASCII, ASCII)
    if was_in_unicode:
        store_in_unicode(user)
    client.post("/sign-in", {"login": spelling, "password": PASSWORD})
    assert is_signed_in(client)
    Client().post("/account/password/reset", {"email": spelling})
    (message,) = read_mails()
    assert message.to == [ASCII]


@pytest.mark.django_db
@pytest.mark.parametrize("was_in_unicode", [False, True])
@pytest.mark.parametrize("spelling", [UNICODE, ASCII])
def test_a_provider_opens_the_same_account_by_either_spelling(client, provider, spelling, was_in_unicode):
    user = create_invited_user(ASCII, now=timezone.now(), username="ada")
    if was_in_unicode:
        store_in_unicode(user)
    provider.person = {**ADA, "email": spelling}
    sign_in(client)
    assert client.session["_auth_user_id"] == str(user.pk)
    assert EmailAddress.objects.get().email == ASCII
    assert User.objects.get().email == ASCII


@pytest.mark.django_db
@pytest.mark.parametrize(("invited", "vouched"), [(UNICODE, ASCII), (ASCII, UNICODE)])
def test_somebody_invited_by_one_spelling_joins_by_the_other(client, provider, workspace, invited, vouched):
    now = timezone.now()
    invitation, _ = invite(workspace.workspace, invited, "editor", actor="test", now=now)
    assert invitation.email == ASCII
    Invitation.objects.update(email=invited)  # as it was stored formerly
    provider.person = {**ADA, "email": vouched}
    sign_in(client)
    assert "Join Lumen Books" in client.get("/").content.decode()
    accept_invitation(Invitation.objects.get(), User.objects.get(), now=now)
    assert Membership.objects.get().role == "editor"
    with pytest.raises(MembershipFault):
        invite(workspace.workspace, vouched, "editor", actor="test", now=now)
    assert User.objects.count() == EmailAddress.objects.count() == 1


@pytest.mark.django_db
def test_an_invitation_replaces_one_in_the_other_spelling(workspace):
    invite(workspace.workspace, ASCII, "viewer", actor="test", now=timezone.now())
    Invitation.objects.update(email=UNICODE)
    invite(workspace.workspace, UNICODE, "editor", actor="test", now=timezone.now())
    assert [(row.email, row.role) for row in Invitation.objects.all()] == [(ASCII, "editor")]


@pytest.mark.django_db
def test_two_accounts_that_have_an_address_in_two_spellings_stay_apart(client, provider, workspace):
    """Formerly, one person could have both."""
    in_unicode = store_in_unicode(create_invited_user(UNICODE, now=timezone.now(), username="bob", password=PASSWORD))
    in_ascii = create_invited_user(ASCII, now=timezone.now(), username="ada", password=PASSWORD)
    for spelling, user in ((UNICODE, in_unicode), (ASCII, in_ascii)):
        other_client = Client()
        other_client.post("/sign-in", {"login": spelling, "password": PASSWORD})
        assert other_client.session["_auth_user_id"] == str(user.pk)
    invitation, _ = invite(workspace.workspace, ASCII, "editor", actor="test", now=timezone.now())
    assert accept_invitation(invitation, in_ascii, now=timezone.now()).user == in_ascii
    provider.person = {**ADA, "email": UNICODE}
    sign_in(client)
    assert client.session["_auth_user_id"] == str(in_unicode.pk)
