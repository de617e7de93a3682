"""The doctor sees an OpenID Connect provider that people cannot sign in through, and says why."""

from __future__ import annotations

import pytest

from hub.doctor.single_sign_on import check_single_sign_on
from tests.workspaces.people.oidc_provider import run_provider


@pytest.fixture
def provider(settings):
    with run_provider() as provider:
        settings.OIDC_ISSUER = provider.issuer
        yield provider


def test_without_a_provider_nothing_is_asked(settings):
    settings.OIDC_ISSUER = ""
    assert check_single_sign_on().state == "ok"


def test_a_provider_with_a_document_and_keys_is_fine(provider):
    result = check_single_sign_on()
    assert (result.state, result.detail) == ("ok", f"{provider.issuer} answers.")


@pytest.mark.parametrize(
    ("discovery", "reason"),
    [
        ({"issuer": "https://another.example"}, "of the issuer 'https://another.example'"),
        ({"token_endpoint": None}, "has no token_endpoint"),
        ({"jwks_uri": "http://127.0.0.1:1/keys"}, "it cannot be reached"),
        ({"jwks_uri": "no address"}, "cannot be used"),
    ],
    ids=str,
)
def test_a_document_that_cannot_be_used_is_wrong(provider, discovery, reason):
    provider.discovery.update(discovery)
    result = check_single_sign_on()
    assert (result.state, reason in result.detail, "OIDC_ISSUER" in result.cure) == ("wrong", True, True), result


def test_a_provider_that_is_not_there_is_wrong(provider, settings):
    settings.OIDC_ISSUER = f"{provider.issuer}/another/realm"
    assert "it answers 404" in check_single_sign_on().detail
    settings.OIDC_ISSUER = "http://127.0.0.1:1"
    assert "it cannot be reached" in check_single_sign_on().detail


@pytest.mark.parametrize("keys", [{"keys": []}, {"keys": [{"kty": "oct", "k": "AAAA"}]}], ids=str)
def test_a_provider_without_a_usable_key_is_wrong(provider, monkeypatch, keys):
    monkeypatch.setattr(provider, "list_keys", lambda: keys)
    result = check_single_sign_on()
    assert (result.state, "has no key" in result.detail, "RS256" in result.cure) == ("wrong", True, True)


def test_keys_that_are_none_are_wrong(provider, monkeypatch):
    monkeypatch.setattr(provider, "list_keys", list)
    assert "is no JSON object" in check_single_sign_on().detail
    monkeypatch.setattr(provider, "list_keys", dict)
    assert "key set is none" in check_single_sign_on().detail
