"""An authenticator app as second factor, with its recovery codes."""

import re
import time
from datetime import timedelta
from types import SimpleNamespace

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.db import connection
from django.test import Client
from django.utils import timezone

from tests.workspaces.people.account_browser import (
    FACTOR,
    PASSWORD,
    actions,
    add_app,
    is_signed_in,
    sign_in,
)
from tests.workspaces.people.authenticator_app import read_code
from workspaces.models import AuditEntry
from workspaces.people.sign_in.links import create_link

pytestmark = pytest.mark.django_db


def test_an_authenticator_app_is_asked_for_after_the_password_and_each_code_works_once(ada, browser):
    secret = add_app(browser)
    client = sign_in()
    assert not is_signed_in(client)
    assert "Wrong code." in client.post(f"{FACTOR}/sign-in", {"code": "000000"}).content.decode()
    code = read_code(secret)
    client.post(f"{FACTOR}/sign-in", {"code": code})
    assert is_signed_in(client)
    second = sign_in()
    second.post(f"{FACTOR}/sign-in", {"code": code})
    assert not is_signed_in(second)


@pytest.mark.parametrize("seconds", [29, 31, 59, 61, 89])
def test_a_used_code_is_refused_as_long_as_a_clock_accepts_it(ada, browser, monkeypatch, seconds):
    """A code is accepted a period early and a period late: for 90 seconds."""
    secret = add_app(browser)
    start = int(time.time()) // 30 * 30
    code = format_hotp_value(hotp_value(secret, start // 30 + 1))
    for later, is_accepted in ((0, True), (seconds, False)):
        monkeypatch.setattr(totp, "time", SimpleNamespace(time=lambda later=later: start + later))
        with connection.cursor() as cursor:  # make what the hub remembers older by as much
            cursor.execute("UPDATE workspaces_attempts SET expires = expires - %s", [timedelta(seconds=later)])
        client = sign_in()
        client.post(f"{FACTOR}/sign-in", {"code": code})
        assert is_signed_in(client) is is_accepted


def test_a_recovery_code_works_once_in_place_of_the_app(ada, browser):
    add_app(browser)
    codes = re.findall(r"^\s*(\w{8})$", browser.get(f"{FACTOR}/codes/download").content.decode(), re.MULTILINE)
    assert len(codes) == 10
    for works in (True, False):
        client = sign_in()
        client.post(f"{FACTOR}/sign-in", {"code": codes[0]})
        assert is_signed_in(client) is works


def test_seeds_are_encrypted_at_rest(browser):
    secret = add_app(browser)
    for authenticator in Authenticator.objects.all():
        stored = str(authenticator.data)
        assert secret not in stored
        assert "gAAAA" in stored
    secrets_stored = [authenticator.data for authenticator in Authenticator.objects.all()]
    assert {key for data in secrets_stored for key in data} <= {"secret", "seed", "used_mask", "migrated_codes"}


def test_second_factors_are_in_the_log_without_their_secrets(ada, browser, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        secret = add_app(browser)
        browser.post(f"{FACTOR}/codes/new")
    browser.post(f"{FACTOR}/app/remove")
    assert not Authenticator.objects.exists()
    assert actions(ada)[1:] == ["second factor added", "recovery codes made", "second factor removed"]
    assert secret not in str(list(AuditEntry.objects.values()))


def test_changing_a_second_factor_needs_confirming_the_password(ada):
    client = sign_in()
    session = client.session
    session["account_authentication_methods"] = []
    session.save()
    for page in ("app/add", "passkeys/add", "codes/new"):
        answer = client.get(f"{FACTOR}/{page}")
        assert answer["Location"].startswith("/account/confirm?next=")
    client.post("/account/confirm", {"password": PASSWORD, "next": f"{FACTOR}/app/add"})
    assert client.get(f"{FACTOR}/app/add").status_code == 200


def test_a_second_factor_whose_key_is_lost_lets_nobody_in_and_can_be_removed(ada, browser, settings):
    secret = add_app(browser)
    code = re.search(r"\b\d{8}\b", browser.get(f"{FACTOR}/codes").content.decode())[0]
    settings.SECRET_KEY = "n" * 50
    client = sign_in()
    for guess in (read_code(secret), code):
        page = client.post(f"{FACTOR}/sign-in", {"code": guess}).content.decode()
        assert "can no longer read your second factor" in page
    assert not is_signed_in(client)
    client.post(f"/sign-in/{create_link(ada, now=timezone.now())}")
    assert client.get(FACTOR).status_code == 200
    for page in ("codes", "codes/download"):  # codes that do not work are not shown
        assert client.get(f"{FACTOR}/{page}")["Location"] == f"{FACTOR}/codes/new"
    assert client.get(f"{FACTOR}/codes/new").status_code == 200
    client.post(f"{FACTOR}/app/remove")
    assert not Authenticator.objects.exists()


def test_the_link_of_the_operator_asks_for_no_second_factor(ada, browser):
    add_app(browser)
    client = Client()
    client.post(f"/sign-in/{create_link(ada, now=timezone.now())}")
    assert is_signed_in(client)
