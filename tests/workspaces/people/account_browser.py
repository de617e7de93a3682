"""Sign in and use the account's pages as Ada, for the tests."""

import re

from django.test import Client
from django.utils import timezone

from tests.workspaces.people.authenticator_app import read_code
from workspaces.models import AuditEntry, Membership
from workspaces.people.invitations.accept import create_invited_user

PASSWORD, NEW_PASSWORD = "correct horse battery", "a quite different one"
FACTOR = "/account/second-factor"


def create_ada(created):
    user = create_invited_user("ada@example.com", now=timezone.now(), username="ada", password=PASSWORD)
    Membership.objects.create(workspace=created.workspace, user=user, role="viewer")
    return user


def sign_in(password=PASSWORD, name="ada", client=None):
    client = client or Client()
    client.post("/sign-in", {"login": name, "password": password})
    return client


def sign_in_and_confirm():
    client = sign_in()
    client.post("/account/confirm", {"password": PASSWORD})
    return client


def is_signed_in(client):
    return "_auth_user_id" in client.session


def actions(user):
    return [entry.action for entry in AuditEntry.objects.filter(actor=user.username).order_by("id")]


def add_app(browser):
    """Add an authenticator app and return its secret."""
    page = browser.get(f"{FACTOR}/app/add").content.decode()
    secret = re.search(r'id="totp-secret">(\w+)<', page)[1]
    assert browser.post(f"{FACTOR}/app/add", {"code": read_code(secret)})["Location"] == f"{FACTOR}/codes"
    return secret
