"""Fixtures of the tests of single sign-on."""

import pytest
from django.utils import timezone

from tests.workspaces.people.oidc_provider import ADA
from workspaces.people.invitations.accept import create_invited_user


@pytest.fixture
def ada(db):
    """Return Ada, who has no password."""
    return create_invited_user(ADA["email"], now=timezone.now(), username="ada")
