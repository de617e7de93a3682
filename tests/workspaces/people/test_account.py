"""The account page: password, reset by e-mail, second factor. All changes are in the audit log, without secrets."""

import re
import threading
import time
from datetime import timedelta
from types import SimpleNamespace

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.contrib.auth import get_user_model
from django.core.mail.backends.locmem import EmailBackend
from django.db import connection
from django.test import Client
from django.utils import timezone

from tests.workspaces.people.authenticator_app import read_code
from tests.workspaces.people.mails import read_mails
from workspaces.models import AuditEntry, Membership
from workspaces.people.invitations.accept import create_invited_user
from workspaces.people.sign_in.links import create_link

pytestmark = pytest.mark.django_db
PASSWORD, NEW_PASSWORD = "correct horse battery", "a quite different one"
FACTOR = "/account/second-factor"


@pytest.fixture
def ada(workspace):
    user = create_invited_user("ada@example.com", now=timezone.now(), username="ada", password=PASSWORD)
    Membership.objects.create(workspace=workspace.workspace, user=user, role="viewer")
    return user


def sign_in(password=PASSWORD, name="ada", client=None):
    client = client or Client()
    client.post("/sign-in", {"login": name, "password": password})
    return client


@pytest.fixture
def browser(ada):
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


@pytest.mark.parametrize("name", ["ada", "ADA", "ada@example.com", "Ada@Example.COM"])
def test_people_sign_in_with_their_name_or_address(ada, name):
    assert is_signed_in(sign_in(name=name))


def test_sign_ins_sign_outs_and_one_failure_an_hour_are_in_the_log(ada, workspace):
    client = Client(REMOTE_ADDR="198.51.100.7")
    for password in ("wrong", "wrong again", PASSWORD):
        sign_in(password, client=client)
    client.post("/sign-out")
    assert actions(ada) == ["sign-in failed", "signed in", "signed out"]
    entry = AuditEntry.objects.filter(actor="ada").first()
    assert (entry.workspace_id, entry.address) == (workspace.workspace.pk, "198.51.100.7")


def test_a_name_that_nobody_has_is_not_recorded(ada):
    before = AuditEntry.objects.count()
    sign_in(name="a password in the wrong field")
    assert AuditEntry.objects.count() == before


def test_an_operator_without_a_workspace_is_recorded_for_the_whole_hub(db):
    operator = get_user_model().objects.create_superuser("operator")
    Client().post(f"/sign-in/{create_link(operator, now=timezone.now())}")
    assert AuditEntry.objects.get(actor="operator").workspace_id == ""


def test_the_account_lists_the_workspaces_of_a_member_and_all_of_them_for_an_operator(
    ada, browser, browser_client, other_workspace
):
    member_page = browser.get("/account").content.decode()
    assert "/w/lumen-books/production/overview" in member_page
    assert "/w/other-shop/" not in member_page
    operator_page = browser_client.get("/account").content.decode()
    assert all(f"/w/{slug}/production/overview" in operator_page for slug in ("lumen-books", "other-shop"))


def test_opening_a_link_sets_only_the_csrf_cookie(ada):
    client = Client()
    answer = client.get(f"/sign-in/{create_link(ada, now=timezone.now())}")
    assert set(answer.cookies) == {"csrftoken"}


def test_changing_the_password_needs_the_old_one_and_ends_other_sessions(ada, browser):
    other_browser = sign_in()
    form = {"oldpassword": PASSWORD, "password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    wrong = browser.post("/account/password", {**form, "oldpassword": "wrong"})
    assert "Wrong password." in wrong.content.decode()
    answer = browser.post("/account/password", form)
    assert "Your password is changed." in browser.get(answer["Location"]).content.decode()
    assert is_signed_in(browser)
    assert other_browser.get("/account").status_code == 302
    assert is_signed_in(sign_in(NEW_PASSWORD))
    assert "password changed" in actions(ada)


def test_weak_passwords_are_refused(browser):
    form = {"oldpassword": PASSWORD, "password1": "ada@example.com", "password2": "ada@example.com"}
    assert "too similar" in browser.post("/account/password", form).content.decode()


def test_a_password_is_reset_by_a_link_that_works_once(ada):
    client = Client()
    assert client.post("/account/password/reset", {"email": "Ada@example.com"})["Location"].endswith("/reset/sent")
    (message,) = read_mails()
    assert message.subject == "Reset your password of Affidavit"
    link = re.search(r"http://testserver(/account/password/reset/\S+)", message.body)[1]
    form_address = client.get(link)["Location"]
    assert form_address.endswith("-set-password")
    form = {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    assert client.post(form_address, form)["Location"] == "/account/password/reset/done"
    assert not is_signed_in(client)
    assert is_signed_in(sign_in(NEW_PASSWORD))
    assert "password reset" in actions(ada)
    assert "no longer works" in Client().get(link).content.decode()


def test_a_reset_tells_nothing_about_who_has_an_account(ada):
    answers = [
        Client().post("/account/password/reset", {"email": address}) for address in ("ada@example.com", "eve@x.org")
    ]
    assert [(answer.status_code, answer["Location"]) for answer in answers] == [
        (302, "/account/password/reset/sent")
    ] * 2
    assert len(read_mails()) == 1


def test_a_mail_server_that_fails_makes_no_difference_to_the_answer(ada, settings, caplog):
    settings.EMAIL_BACKEND = "wire.mail.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    assert Client().post("/account/password/reset", {"email": "ada@example.com"}).status_code == 302
    read_mails()
    assert "mail could not be sent: ConnectionRefusedError" in caplog.text


def test_a_slow_mail_server_makes_no_difference_to_the_answer(ada, monkeypatch):
    is_answered, seen = threading.Event(), []
    monkeypatch.setattr(EmailBackend, "send_messages", lambda *_: seen.append(is_answered.wait(5)))
    assert Client().post("/account/password/reset", {"email": "ada@example.com"}).status_code == 302
    is_answered.set()
    read_mails()
    assert seen == [True]


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


PAGES = (
    "/account",
    "/account/password",
    "/account/password/reset",
    "/account/password/reset/sent",
    "/account/password/reset/done",
    "/account/password/reset/1-abc-def",
    "/account/inactive",
    FACTOR,
    f"{FACTOR}/app/add",
    f"{FACTOR}/codes",
    f"{FACTOR}/codes/new",
    f"{FACTOR}/passkeys/add",
)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_has_our_frame_and_no_inline_script(browser, page):
    if page == f"{FACTOR}/codes":
        add_app(browser)
    answer = browser.get(page, follow=True)
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "· Affidavit" in text
    assert text.count("<h1") == 1
    assert not re.search(r'<script(?![^>]*\bsrc=)(?![^>]*type="application/json")', text)


@pytest.mark.parametrize("page", [page for page in PAGES if "reset" not in page and page != "/account/inactive"])
def test_pages_of_an_account_redirect_to_sign_in(db, page):
    assert Client().get(page)["Location"].startswith("/sign-in?next=/account")


def test_other_pages_of_allauth_do_not_exist(browser):
    for address in (
        "/account/email",
        "/account/signup",
        "/account/login",
        "/account/3rdparty",
        "/account/social/signup",
    ):
        assert browser.get(address).status_code == 404
