"""The requests of the code flow, as providers differ in them."""

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.workspaces.people.account_browser import is_signed_in
from tests.workspaces.people.oidc_provider import START, sign_in

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("methods", [None, ["client_secret_basic"], ["private_key_jwt", "client_secret_basic"]])
def test_the_secret_goes_into_the_header_if_the_provider_does_not_take_it_elsewhere(client, provider, ada, methods):
    provider.discovery["token_endpoint_auth_methods_supported"] = methods
    sign_in(client)
    assert is_signed_in(client)


def test_the_query_of_the_providers_address_stays(client, provider):
    provider.discovery["authorization_endpoint"] = f"{provider.issuer}/authorize?policy=staff&empty="
    address = urlsplit(client.get(START)["Location"])
    query = parse_qs(address.query, keep_blank_values=True)
    assert (query["policy"], query["empty"], query["client_id"]) == (["staff"], [""], ["affidavit-hub"])


@pytest.mark.parametrize("answer", [{"access_token": None}, {"id_token": None}, {"id_token": 5}], ids=str)
def test_no_token_is_logged_if_the_answer_has_not_both(client, provider, ada, caplog, answer):
    provider.token_answer = {"refresh_token": "a-refresh-token", **answer}
    assert sign_in(client).status_code == 400
    assert "the token endpoint answered 200 without the two tokens" in caplog.text
    assert "a-refresh-token" not in caplog.text
    assert "eyJ" not in caplog.text


def test_the_log_says_why_the_provider_refused(client, provider, settings, ada, caplog):
    settings.OIDC_CLIENT_SECRET = "wrong"
    assert sign_in(client).status_code == 400
    assert "the token endpoint answered 400: invalid_grant" in caplog.text


def test_how_long_an_access_token_is_valid_does_not_matter(client, provider, ada):
    provider.token_answer = {"expires_in": 1e18}
    sign_in(client)
    assert is_signed_in(client)
