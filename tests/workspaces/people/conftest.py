"""Fixtures of the tests about people."""

import pytest
from django.utils import timezone

from tests.workspaces.people.oidc_provider import ADA, CLIENT_ID, CLIENT_SECRET, run_provider
from workspaces.people.invitations.accept import create_invited_user


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
def ada(db):
    return create_invited_user(ADA["email"], now=timezone.now(), username="ada")
