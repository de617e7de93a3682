"""Whom a provider may name: people with unusual claims, and people of another provider."""

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from tests.workspaces.people.account_browser import is_signed_in
from tests.workspaces.people.mails import read_mails
from tests.workspaces.people.oidc_provider import ADA, START, ask_provider, sign_in
from workspaces.models import Membership
from workspaces.people.invitations.accept import create_invited_user
from workspaces.people.invitations.invite import invite

pytestmark = pytest.mark.django_db
HALF_A_PAIR = "\ud800"
DEEP_JSON = f'{{"keys": {"[" * 100_000}{"]" * 100_000}}}'


@pytest.mark.parametrize("name", ["a\0b", 5, ["Ada"], HALF_A_PAIR, "", None, "n" * 10_000], ids=repr)
def test_whatever_the_name_is_a_person_can_sign_in(client, provider, ada, name):
    provider.person = {**ADA, "name": name}
    sign_in(client)
    assert is_signed_in(client)


@pytest.mark.parametrize("length", [191, 192, 255])
def test_the_provider_may_name_a_person_by_up_to_255_characters(client, provider, ada, length):
    provider.person = {**ADA, "sub": "s" * length}
    sign_in(client)
    sign_in(other_client := Client())
    assert is_signed_in(client)
    assert is_signed_in(other_client)
    assert SocialAccount.objects.count() == 1


@pytest.mark.parametrize("subject", ["s" * 256, "a\0b", "", HALF_A_PAIR], ids=lambda subject: repr(subject)[:20])
def test_a_person_whom_the_provider_does_not_name_is_refused(client, provider, ada, subject):
    provider.person = {**ADA, "sub": subject}
    assert sign_in(client).status_code == 400
    assert not is_signed_in(client)


@pytest.mark.parametrize("email", [["ada@example.com"], 17, {"value": "ada@example.com"}, "ada", "", None], ids=repr)
def test_somebody_without_an_address_reads_what_is_missing(client, provider, ada, email):
    provider.person = {**ADA, "email": email}
    answer = sign_in(client)
    assert answer.status_code == 403
    assert "Example login does not send your e-mail address" in answer.content.decode()


@pytest.mark.parametrize("verified", [["true"], {}, "TRUE", "1"], ids=repr)
def test_only_true_means_that_an_address_is_verified(client, provider, ada, verified):
    provider.person = {**ADA, "email_verified": verified}
    answer = sign_in(client)
    assert answer.status_code == 403
    assert "does not say that your e-mail address is verified" in answer.content.decode()


def test_an_answer_of_deeply_nested_json_is_no_fault_of_the_hub(client, provider, ada, monkeypatch):
    callback = ask_provider(client.get(START)["Location"])
    monkeypatch.setattr(provider, "encode", lambda document: DEEP_JSON.encode())
    assert client.get(START).status_code == client.get(callback).status_code == 503


def test_an_operator_made_on_the_hub_s_machine_signs_in_with_the_address_given_there(client, provider):
    operator = User.objects.create_superuser("operator", "Ada@Example.com", "correct horse battery")
    sign_in(client)
    assert client.session["_auth_user_id"] == str(operator.pk)
    operator.refresh_from_db()
    assert not operator.has_usable_password()
    assert list(EmailAddress.objects.values_list("user", "email", "verified")) == [(operator.pk, ADA["email"], True)]
    provider.person = {**ADA, "email": "Ada@Married.example"}
    sign_in(Client())
    provider.person = {**ADA, "sub": "ada-18"}  # somebody else, who got the former address
    assert "Nobody has invited ada@example.com" in sign_in(Client()).content.decode()


def test_an_account_that_has_verified_an_operator_s_address_comes_before_the_operator(client, provider, ada, workspace):
    User.objects.create_superuser("operator", ADA["email"], "correct horse battery")
    sign_in(client)
    assert client.session["_auth_user_id"] == str(ada.pk)
    _, token = invite(workspace.workspace, ADA["email"], "editor", actor="test", now=timezone.now())
    assert client.post(f"/invitations/{token}").status_code == 303
    assert Membership.objects.get().user == ada


@pytest.mark.parametrize("change", [{"is_superuser": False}, {"email": ""}])
def test_the_address_of_others_counts_only_if_it_is_verified(client, provider, change):
    User.objects.create_superuser("operator", ADA["email"], "correct horse battery")
    User.objects.update(**change)
    assert "Nobody has invited ada@example.com" in sign_in(client).content.decode()


def test_a_person_whose_address_changed_accepts_an_invitation_to_the_new_one(client, provider, ada, workspace):
    sign_in(client)
    client.post("/sign-out")
    _, token = invite(workspace.workspace, "ada@married.example", "editor", actor="test", now=timezone.now())
    provider.person = {**ADA, "email": "Ada@Married.example"}
    address = sign_in(client, f"/invitations/{token}")["Location"]
    assert client.post(address).status_code == 303
    assert Membership.objects.get().user == ada


def test_an_earlier_address_of_a_person_is_no_way_into_the_account(client, provider, ada, workspace):
    sign_in(client)
    provider.person = {**ADA, "email": "Ada@Married.example"}
    sign_in(Client())
    ada.refresh_from_db()
    assert ada.email == "ada@married.example"
    assert list(EmailAddress.objects.values_list("email", "primary")) == [("ada@married.example", True)]
    provider.person = {**ADA, "sub": "ada-18"}  # a new colleague, who got the address that is free now
    other_client = Client()
    assert "Nobody has invited ada@example.com" in sign_in(other_client).content.decode()
    other_client.post("/account/password/reset", {"email": ADA["email"]})
    assert read_mails() == []
    invite(workspace.workspace, ADA["email"], "viewer", actor="test", now=timezone.now())
    sign_in(other_client)
    assert is_signed_in(other_client)
    assert other_client.session["_auth_user_id"] != str(ada.pk)


def test_a_new_address_of_a_person_that_another_account_has_stays_with_that_account(client, provider, ada):
    sign_in(client)
    grace = create_invited_user("grace@example.com", now=timezone.now(), username="grace")
    provider.person = {**ADA, "email": "grace@example.com"}
    sign_in(client)
    assert client.session["_auth_user_id"] == str(ada.pk)
    assert EmailAddress.objects.get(email="grace@example.com").user == grace


def test_a_subject_of_another_issuer_is_another_person(client, provider, ada, settings):
    sign_in(client)
    grace = create_invited_user("grace@example.com", now=timezone.now(), username="grace")
    provider.person = {**ADA, "email": "grace@example.com"}
    provider.discovery["issuer"] = settings.OIDC_ISSUER = f"{provider.issuer}/new"
    provider.claims["iss"] = settings.OIDC_ISSUER
    sign_in(other_client := Client())
    assert other_client.session["_auth_user_id"] == str(grace.pk)
    assert EmailAddress.objects.get(user=ada).email == ADA["email"]
