"""Fixtures of the tests about people."""

import pytest

from tests.workspaces.people.account_browser import create_ada, sign_in_and_confirm
from tests.workspaces.people.oidc_provider import ADA, CLIENT_ID, CLIENT_SECRET, run_provider


@pytest.fixture(autouse=True)
def _quick_passwords(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(scope="module")
def _running_provider():
    with run_provider() as provider:
        yield provider


@pytest.fixture
def provider(_running_provider, settings):
    _running_provider.person, _running_provider.signs_with = ADA, _running_provider.key
    answers = (_running_provider.discovery, _running_provider.information, _running_provider.token_answer)
    for overrides in (_running_provider.claims, *answers):
        overrides.clear()
    settings.OIDC_ISSUER = _running_provider.issuer
    settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT_ID, CLIENT_SECRET
    settings.OIDC_NAME = "Example login"
    return _running_provider


@pytest.fixture
def ada(workspace):
    return create_ada(workspace)


@pytest.fixture
def browser(ada):
    """Return a browser in which Ada has signed in and confirmed her password."""
    return sign_in_and_confirm()
