"""A second factor of somebody who signs in through the provider."""

import pytest
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret

from tests.workspaces.people.authenticator_app import read_code
from tests.workspaces.people.oidc_provider import is_signed_in, sign_in

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
