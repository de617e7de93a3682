"""Open every page about people once, for tests that look at all templates."""

from __future__ import annotations

import json
import re
from typing import Any

from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth import get_user_model
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from tests.workspaces.people.mails import read_mails
from tests.workspaces.people.passkey import Passkey
from workspaces.create import NewWorkspace
from workspaces.models import Invitation, Membership, Workspace
from workspaces.people.invitations.accept import create_invited_user
from workspaces.people.invitations.invite import invite
from workspaces.people.single_sign_on.provider_adapter import OIDC_PROVIDER_ID

PASSWORD = "a long enough secret"
FACTOR = "/account/second-factor"


def open_people(created: NewWorkspace, settings: Any) -> None:
    """Open what strangers and invited people see, and the pages of an account with every second factor."""
    stranger = Client()
    settings.OIDC_ISSUER = "https://login.example.com"
    open_page(stranger, "/sign-in?next=/account")
    settings.OIDC_ISSUER = ""
    open_invitations(created)
    open_account()
    open_reset()


def open_page(client: Client, address: str, status: int = 200) -> HttpResponse:
    answer = client.get(address)
    assert answer.status_code == status, address
    return answer


def open_members(browser: Client, start: str) -> None:
    """Open the page of members, with and without faults.

    browser: the browser of an operator.
    """
    member = get_user_model().objects.create_user("a-member", "member@example.com")
    Membership.objects.create(workspace=Workspace.objects.get(slug=start.split("/")[2]), user=member)
    for form in ({"email": "new@example.com", "role": "viewer"}, {}):
        assert browser.post(f"{start}/members/invite", form, follow=True).status_code == 200
    assert browser.post(f"{start}/members/{member.pk}/role", {"role": "?"}, follow=True).status_code == 200
    open_page(browser, f"{start}/members?remove={member.pk}")


def open_invitations(created: NewWorkspace) -> None:
    now = timezone.now()
    _, token = invite(created.workspace, "ada@example.com", "viewer", actor="test", now=now)
    address = f"/invitations/{token}"
    stranger, somebody = Client(), Client()
    open_page(stranger, "/invitations/unknown", 410)
    open_page(stranger, address)
    stranger.post(address, {"username": "", "password": ""})
    somebody.force_login(create_invited_user("eve@example.com", now=now))
    open_page(somebody, address)
    ada = create_invited_user("ada@example.com", now=now, username="ada", password=PASSWORD)
    open_page(stranger, address)
    somebody.force_login(ada)
    open_page(somebody, address)
    SocialAccount.objects.create(user=ada, provider=OIDC_PROVIDER_ID, uid="ada-17")
    open_page(somebody, "/")
    open_page(somebody, "/account?done=password")
    invitation = Invitation.objects.get(email="ada@example.com")
    somebody.post(f"/account/invitations/{invitation.pk}")


def open_account() -> None:
    client = Client()
    client.post("/sign-in", {"login": "ada", "password": PASSWORD})
    for page in ("/account", "/account/password", FACTOR, "/account/inactive"):
        open_page(client, page)
    client.post("/account/password", {"oldpassword": "wrong", "password1": "x", "password2": "y"})
    open_page(client, f"/account/confirm?next={FACTOR}")
    client.post("/account/confirm", {"password": "wrong"})
    client.post("/account/confirm", {"password": PASSWORD})
    open_page(client, f"{FACTOR}/app/add")
    client.post(f"{FACTOR}/app/add", {"code": "0"})
    passkey = Passkey()
    options = open_page(client, f"{FACTOR}/passkeys/add").context["js_data"]["creation_options"]
    client.post(f"{FACTOR}/passkeys/add", {"credential": "{}", "name": "x"})
    options = open_page(client, f"{FACTOR}/passkeys/add").context["js_data"]["creation_options"]
    client.post(f"{FACTOR}/passkeys/add", {"credential": passkey.create(json.loads(json.dumps(options))), "name": "x"})
    index = open_page(client, FACTOR)
    pk = index.context["authenticators"]["webauthn"][0].instance.pk
    for page in ("codes", "codes/new", f"passkeys/{pk}/rename", f"passkeys/{pk}/remove", "confirm", "passkeys/confirm"):
        open_page(client, f"{FACTOR}/{page}")
    TOTP.activate(get_user_model().objects.get(username="ada"), "JBSWY3DPEHPK3PXP")
    for page in (FACTOR, f"{FACTOR}/app/remove", "/account"):
        open_page(client, page)
    second = Client()
    second.post("/sign-in", {"login": "ada", "password": PASSWORD})
    open_page(second, f"{FACTOR}/sign-in")
    second.post(f"{FACTOR}/sign-in", {"code": "0"})
    second.post(f"{FACTOR}/sign-in", {"credential": "{}"})
    without_password = Client()
    without_password.force_login(get_user_model().objects.create_user("without-password"))
    open_page(without_password, "/account/password/set")
    open_page(without_password, "/account")


def open_reset() -> None:
    stranger = Client()
    for page in ("reset", "reset/sent", "reset/done", "reset/1-a-b"):
        open_page(stranger, f"/account/password/{page}")
    stranger.post("/account/password/reset", {"email": "not an address"})
    stranger.post("/account/password/reset", {"email": "ada@example.com"})
    link = re.search(r"http://testserver(\S+)", read_mails()[-1].body)[1]
    form_address = stranger.get(link)["Location"]
    open_page(stranger, form_address)
    stranger.post(form_address, {"password1": "x", "password2": "y"})
