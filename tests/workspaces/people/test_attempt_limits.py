"""Guesses are limited by address and by account; the refusal is a page with 429 and Retry-After."""

import re

import pytest
from allauth.account import app_settings
from allauth.mfa.totp.internal.auth import TOTP
from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils import timezone

from tests.workspaces.people.mails import read_mails
from workspaces.people.invitations.accept import create_invited_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(db):
    return create_invited_user("ada@example.com", now=timezone.now(), username="ada", password="correct horse")


def client_at(address):
    return Client(REMOTE_ADDR=address)


def guess(client, name="ada", password="wrong"):
    return client.post("/sign-in", {"login": name, "password": password})


def is_refused(answer):
    assert answer.status_code in {200, 302, 410, 429}
    if answer.status_code == 429:
        assert int(answer["Retry-After"]) > 0
        assert "Too many attempts to sign in" in answer.content.decode()
    return answer.status_code == 429


def test_guesses_from_one_address_are_limited(ada):
    client = client_at("198.51.100.7")
    answers = [is_refused(guess(client, f"user-{number}")) for number in range(12)]
    assert answers == [False] * 10 + [True] * 2
    assert is_refused(guess(client, "ada", "correct horse"))
    assert not is_refused(guess(client_at("198.51.100.8"), "ada", "correct horse"))


def test_guesses_for_one_account_are_limited_from_any_address(ada):
    answers = [is_refused(guess(client_at(f"198.51.100.{number}"), "Ada")) for number in range(12)]
    assert answers == [False] * 10 + [True] * 2


def test_guesses_by_user_name_and_by_address_count_together(ada):
    names = ["ada", "ada@example.com", "ADA", " Ada@Example.com "] * 3
    clients = [client_at(f"198.51.100.{number}") for number in range(12)]
    answers = [is_refused(guess(client, name)) for client, name in zip(clients, names, strict=True)]
    assert answers == [False] * 10 + [True] * 2


def test_addresses_of_one_ipv6_network_count_as_one(ada):
    answers = [is_refused(guess(client_at(f"2001:db8::{number:x}"), f"user-{number}")) for number in range(12)]
    assert answers[10:] == [True, True]


def test_the_right_password_does_not_count_as_a_guess(ada):
    client = client_at("198.51.100.7")
    for _ in range(15):
        assert guess(client, "ada", "correct horse").status_code == 302
        client.post("/sign-out")


def test_a_forwarded_address_does_not_count_without_a_trusted_proxy(ada):
    forged = [
        is_refused(Client(headers={"x-forwarded-for": f"203.0.113.{number}"}).post("/sign-in", form))
        for number, form in enumerate([{"login": f"user-{number}", "password": "wrong"} for number in range(12)])
    ]
    assert forged[10:] == [True, True]


def test_password_resets_are_limited_per_account_and_reveal_nothing(ada):
    answers = [client_at(f"198.51.100.{number}").post(RESET, {"email": "ada@example.com"}) for number in range(7)]
    assert [answer.status_code for answer in answers] == [302] * 5 + [429] * 2
    unknown = [client_at(f"198.51.100.{number}").post(RESET, {"email": "eve@example.com"}) for number in range(7)]
    assert [answer.status_code for answer in unknown] == [302] * 5 + [429] * 2
    assert len(read_mails()) == 5


RESET = "/account/password/reset"


@pytest.mark.parametrize("path", ["/sign-in/", "/invitations/"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_guesses_of_links_are_limited(db, path, method):
    client = client_at("198.51.100.7")
    answers = [is_refused(getattr(client, method)(f"{path}guess-{number}")) for number in range(22)]
    assert answers == [False] * 20 + [True] * 2


def test_guesses_of_the_second_factor_are_limited(ada):
    TOTP.activate(ada, "JBSWY3DPEHPK3PXP")
    client = client_at("198.51.100.7")
    assert guess(client, "ada", "correct horse")["Location"] == "/account/second-factor/sign-in"
    answers = [is_refused(client.post("/account/second-factor/sign-in", {"code": f"{n:06}"})) for n in range(12)]
    assert answers[-1]
    assert "_auth_user_id" not in client.session
    assert re.search("Wait 5 minutes", client.post("/account/second-factor/sign-in", {"code": "1"}).content.decode())


def test_counts_from_before_a_clock_was_set_back_refuse_nobody(ada):
    client = client_at("198.51.100.7")
    assert [is_refused(guess(client)) for _ in range(11)][-1]
    with connection.cursor() as cursor:  # as if the clock had been a day ahead meanwhile
        cursor.execute("UPDATE workspaces_attempts SET expires = expires + interval '1 day'")
    assert not is_refused(guess(client, password="correct horse"))


def test_operating_md_says_how_often_one_may_sign_in_and_for_how_long():
    """Some of these limits are defaults of allauth, which another version may change."""
    limits = app_settings.RATE_LIMITS
    text = " ".join((settings.BASE_DIR / "docs/operating.md").read_text().split())
    of_address, of_account = limits["login_failed"].split(",")
    resets, resets_of_account = limits["reset_password"].split(",")
    assert (limits["login"], of_address, limits["link"], resets) == ("30/m/ip", "10/m/ip", "20/m/ip", "20/m/ip")
    assert (of_account, resets_of_account) == ("10/5m/key", "5/m/key")
    assert (
        "In a minute, one address may try to sign in 30 times, and send 10 wrong passwords or codes, 20 links that do "
        "not work and 20 requests for a password reset (5 for one account); one account may get 10 wrong passwords in "
        "five minutes, and 10 wrong codes." in text
    )
    assert f"A sign-in lasts {settings.SESSION_COOKIE_AGE // 86_400} days." in text
