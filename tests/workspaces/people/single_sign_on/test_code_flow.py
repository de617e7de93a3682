"""Signing in through an OpenID Connect provider that the tests run."""

from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialToken
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from tests.workspaces.people.account_browser import is_signed_in
from tests.workspaces.people.oidc_provider import ADA, START, ask_provider, sign_in
from workspaces.models import AuditEntry, Membership
from workspaces.people.invitations.invite import invite

pytestmark = pytest.mark.django_db


def test_the_sign_in_page_offers_the_provider_by_its_name(client, provider):
    assert "Continue with Example login" in client.get("/sign-in?next=/workspaces/new").content.decode()


def test_without_a_provider_its_addresses_answer_404(client, db):
    assert "Continue with" not in client.get("/sign-in").content.decode()
    assert client.get(START).status_code == client.get(f"{START}/callback?code=x&state=y").status_code == 404


def test_a_verified_address_signs_in_the_person_with_that_address(client, provider, ada):
    answer = sign_in(client, "/workspaces/new")
    assert (answer.status_code, answer["Location"]) == (302, "/workspaces/new")
    assert client.session["_auth_user_id"] == str(ada.pk)


def test_the_provider_is_asked_with_pkce_state_and_nonce(client, provider):
    query = parse_qs(urlsplit(client.get(START)["Location"]).query)
    assert query["code_challenge_method"] == ["S256"]
    assert len(query["nonce"][0]) >= 16
    assert len(query["state"][0]) >= 16
    assert query["redirect_uri"] == ["http://testserver/account/oidc/callback"]


def test_parameters_of_the_address_do_not_reach_the_provider(client, provider):
    query = parse_qs(urlsplit(client.get(f"{START}?auth_params=x%3Dy&scope=admin&process=connect")["Location"]).query)
    assert "x" not in query
    assert "admin" not in query["scope"][0]


def test_no_token_is_stored_and_only_the_user_information_of_the_person(client, provider, ada):
    sign_in(client)
    assert not SocialToken.objects.exists()
    assert SocialAccount.objects.get().extra_data == {"userinfo": ADA}


def test_later_the_person_is_recognised_by_the_id_of_the_provider(client, provider, ada):
    sign_in(client)
    EmailAddress.objects.filter(user=ada).delete()
    second_client = Client()
    sign_in(second_client)
    assert second_client.session["_auth_user_id"] == str(ada.pk)


def test_the_first_sign_in_by_the_provider_removes_the_password(client, provider, ada):
    ada.set_password("correct horse")
    ada.save()
    earlier_client = Client()
    earlier_client.post("/sign-in", {"login": "ada", "password": "correct horse"})
    assert is_signed_in(earlier_client)
    sign_in(client)
    ada.refresh_from_db()
    assert not ada.has_usable_password()
    assert earlier_client.get("/account").status_code == 302
    sign_in(Client())
    assert AuditEntry.objects.filter(action="password removed").count() == 1


@pytest.mark.parametrize("verified", [False, None, "false", 0, "yes"])
def test_an_unverified_address_is_refused_and_the_page_says_why(client, provider, ada, verified):
    provider.person = {**ADA, "email_verified": verified}
    answer = sign_in(client)
    assert answer.status_code == 403
    assert "does not say that your e-mail address is verified" in answer.content.decode()
    assert not is_signed_in(client)


def test_if_the_token_does_not_mention_verification_the_user_information_is_read(client, provider, ada):
    provider.person = {"sub": "ada-17"}
    provider.information = {"email": ADA["email"], "email_verified": True}
    sign_in(client)
    assert is_signed_in(client)


def test_user_information_about_somebody_else_is_refused(client, provider, ada):
    provider.person = {"sub": "ada-17"}
    provider.information = {**ADA, "sub": "eve-1"}
    assert sign_in(client).status_code == 400
    assert not is_signed_in(client)


def test_an_account_whose_address_is_unverified_in_the_hub_is_not_linked(client, provider, db):
    user = get_user_model().objects.create_user("ada", ADA["email"], "correct horse")
    assert sign_in(client).status_code == 403
    EmailAddress.objects.create(user=user, email=ADA["email"], verified=False)
    assert sign_in(client).status_code == 403
    assert not is_signed_in(client)


def test_somebody_unknown_is_refused_and_gets_no_account(client, provider, db):
    answer = sign_in(client)
    assert answer.status_code == 403
    assert "Nobody has invited ada@example.com" in answer.content.decode()
    assert not get_user_model().objects.exists()


def test_somebody_invited_gets_an_account_and_joins_with_a_button(client, provider, workspace):
    _, token = invite(workspace.workspace, "Ada@Example.com", "editor", actor="test", now=timezone.now())
    address = f"/invitations/{token}"
    assert f"/account/oidc?next={address}" in client.get(address).content.decode()
    assert sign_in(client, address)["Location"] == address
    assert not Membership.objects.exists()
    answer = client.post(address)
    assert (answer.status_code, answer["Location"]) == (303, "/w/lumen-books/production/overview")
    membership = Membership.objects.get()
    assert (membership.user.username, membership.role) == ("ada@example.com", "editor")
    assert not membership.user.has_usable_password()


def test_an_invitation_past_its_time_makes_no_account(client, provider, workspace):
    invitation, _ = invite(workspace.workspace, ADA["email"], "editor", actor="test", now=timezone.now())
    invitation.expires_at = timezone.now()
    invitation.save()
    assert sign_in(client).status_code == 403
    assert not get_user_model().objects.exists()


def test_an_invited_person_without_the_link_finds_the_invitation(client, provider, workspace):
    invitation, _ = invite(workspace.workspace, ADA["email"], "viewer", actor="test", now=timezone.now())
    assert sign_in(client)["Location"] == "/"
    assert "Join Lumen Books" in client.get("/").content.decode()
    assert client.post(f"/account/invitations/{invitation.pk}").status_code == 303
    assert Membership.objects.get().role == "viewer"


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another-client"},
        {"iss": "https://another.example"},
        {"exp": 1_600_000_000},  # in the year 2020
        {"sub": None},
    ],
    ids=str,
)
def test_a_token_with_wrong_claims_is_refused(client, provider, ada, claims):
    provider.claims.update(claims)
    answer = sign_in(client)
    assert answer.status_code == 400
    assert "Signing in did not succeed" in answer.content.decode()
    assert not is_signed_in(client)


def test_a_token_with_another_signature_is_refused(client, provider, ada):
    provider.signs_with = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    assert sign_in(client).status_code == 400
    assert not is_signed_in(client)


def test_a_state_of_another_browser_is_refused(client, provider, ada):
    callback = ask_provider(client.get(START)["Location"])
    other_client = Client()
    assert other_client.get(callback).status_code == 400
    other_client.get(START)
    assert other_client.get(callback).status_code == 400
    assert not is_signed_in(other_client)


def test_a_callback_works_once(client, provider, ada):
    callback = ask_provider(client.get(START)["Location"])
    client.get(callback)
    client.post("/sign-out")
    assert client.get(callback).status_code == 400
    assert not is_signed_in(client)


def test_the_page_says_that_the_person_cancelled_at_the_provider(client, provider, ada):
    state = parse_qs(urlsplit(client.get(START)["Location"]).query)["state"][0]
    answer = client.get(f"{START}/callback?error=access_denied&state={state}")
    assert answer.status_code == 400
    assert "You cancelled signing in, or Example login does not let you in here" in answer.content.decode()


@pytest.mark.parametrize("code", ["access_denied", "server_error"])
def test_the_log_says_why_the_provider_sent_somebody_back(client, provider, ada, caplog, code):
    state = parse_qs(urlsplit(client.get(START)["Location"]).query)["state"][0]
    client.get(f"{START}/callback", {"error": code, "error_description": "Ada is not assigned", "state": state})
    assert caplog.messages[-1].endswith(f"the provider answered: {code}: Ada is not assigned")


def test_somebody_whose_token_is_refused_reads_who_can_help(client, provider, ada):
    provider.claims["exp"] = 1
    assert "ask whoever runs this hub: its log says why" in sign_in(client).content.decode()


def test_the_page_says_that_the_provider_is_down(client, provider, settings, ada):
    callback = ask_provider(client.get(START)["Location"])
    settings.OIDC_ISSUER = "http://127.0.0.1:1"
    for address in (START, callback):
        answer = client.get(address)
        assert answer.status_code == 503
        assert "cannot be reached" in answer.content.decode()
        assert answer["Retry-After"] == "60"


@pytest.mark.parametrize(
    "discovery", [{"issuer": "https://another.example"}, {"token_endpoint": None}, {"authorization_endpoint": None}]
)
def test_an_invalid_discovery_document_counts_as_a_provider_that_is_down(client, provider, discovery, ada):
    callback = ask_provider(client.get(START)["Location"])
    provider.discovery.update(discovery)
    assert client.get(START).status_code == client.get(callback).status_code == 503
    assert not is_signed_in(client)


def test_a_wrong_client_secret_answers_400(client, provider, settings, ada):
    settings.OIDC_CLIENT_SECRET = "wrong"
    assert sign_in(client).status_code == 400


def test_passwords_are_off_if_only_the_provider_is_allowed(client, provider, settings, ada):
    settings.OIDC_ONLY = True
    page = client.get("/sign-in").content.decode()
    assert 'type="password"' not in page
    assert "Continue with Example login" in page
    assert client.post("/sign-in", {"login": "ada", "password": "correct horse"}).status_code == 405
    assert not is_signed_in(client)
    for address in ("/account/password", "/account/password/reset", "/account/password/set", "/account/confirm"):
        assert client.get(address).status_code == 404
    sign_in(client)
    assert is_signed_in(client)


def test_a_disabled_account_cannot_sign_in(client, provider, ada):
    ada.is_active = False
    ada.save()
    answer = sign_in(client)
    assert answer["Location"] == "/account/inactive"
    assert "This account is disabled" in client.get("/account/inactive").content.decode()
    assert not is_signed_in(client)
