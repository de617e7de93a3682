"""A password is changed with the old one, or reset by e-mail."""

import re
import threading

import pytest
from django.core.mail.backends.locmem import EmailBackend
from django.test import Client

from tests.workspaces.people.account_browser import (
    NEW_PASSWORD,
    PASSWORD,
    actions,
    is_signed_in,
    sign_in,
)
from tests.workspaces.people.mails import read_mails

pytestmark = pytest.mark.django_db


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
