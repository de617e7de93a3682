"""A second factor of somebody who signs in through the provider."""

import pytest
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret

from tests.workspaces.people.account_browser import is_signed_in
from tests.workspaces.people.authenticator_app import read_code
from tests.workspaces.people.oidc_provider import sign_in

pytestmark = pytest.mark.django_db
ADDRESS = "/account/second-factor"


def test_signing_in_through_the_provider_asks_for_it_and_goes_on_to_the_page(client, provider, ada):
    secret = generate_totp_secret()
    TOTP.activate(ada, secret)
    assert sign_in(client, "/workspaces/new")["Location"] == f"{ADDRESS}/sign-in"
    assert not is_signed_in(client)
    assert client.post(f"{ADDRESS}/sign-in", {"code": read_code(secret)})["Location"] == "/workspaces/new"
    assert is_signed_in(client)


@pytest.mark.parametrize("only", [False, True])
def test_the_page_says_so_and_asks_for_no_password(client, provider, ada, settings, only):
    settings.OIDC_ONLY = only
    sign_in(client)
    page = client.get(ADDRESS).content.decode()
    assert "Signing in with Example login also asks for one of these." in page
    assert "Set a password" not in page


def test_the_page_names_both_ways_to_sign_in(client, provider, ada):
    ada.set_password("correct horse")
    ada.save()
    client.force_login(ada)
    assert "Signing in with a password or Example login also asks for" in client.get(ADDRESS).content.decode()


@pytest.mark.parametrize("with_app", [False, True])
def test_without_passwords_nobody_is_asked_for_one_before_a_second_factor_is_added(
    client, provider, ada, settings, with_app
):
    settings.OIDC_ONLY = True
    ada.set_password("correct horse")  # as operators have one, who sign in by a link
    ada.save()
    if with_app:
        TOTP.activate(ada, generate_totp_secret())
    client.force_login(ada)
    answer = client.get(f"{ADDRESS}/passkeys/add", follow=True)
    assert answer.status_code == 200
    assert answer.request["PATH_INFO"] == (f"{ADDRESS}/confirm" if with_app else f"{ADDRESS}/passkeys/add")
    assert "/account/confirm" not in answer.content.decode()
