"""Signing in with a password and signing out."""

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from tests.workspaces.people.account_browser import is_signed_in


@pytest.fixture
def ada(db):
    return get_user_model().objects.create_user("ada", password="correct horse")


def test_the_right_password_signs_in_and_redirects_back(client, ada):
    form = {"login": "ada", "password": "correct horse", "next": "/w/shop/production/outcomes?range=30d"}
    answer = client.post("/sign-in", form)
    assert (answer.status_code, answer["Location"]) == (302, "/w/shop/production/outcomes?range=30d")
    assert is_signed_in(client)


def test_a_wrong_password_signs_nobody_in_and_is_not_repeated(client, ada):
    answer = client.post("/sign-in", {"login": "ada", "password": "wrong horse"})
    assert answer.status_code == 200
    assert not is_signed_in(client)
    assert b"wrong horse" not in answer.content
    assert b"Wrong user name or password" in answer.content


def test_a_disabled_account_does_not_sign_in(client, ada):
    ada.is_active = False
    ada.save()
    client.post("/sign-in", {"login": "ada", "password": "correct horse"})
    assert not is_signed_in(client)


def test_a_signed_in_person_sees_no_form(client, ada):
    client.force_login(ada)
    assert client.get("/sign-in?next=/workspaces/new")["Location"] == "/workspaces/new"


def test_signing_out_needs_a_post(client, ada):
    client.force_login(ada)
    refused = client.get("/sign-out", headers={"accept": "application/json"})
    assert (refused.status_code, refused["Allow"]) == (405, "POST")
    assert is_signed_in(client)
    client.post("/sign-out")
    assert not is_signed_in(client)


def test_a_form_without_its_csrf_value_is_refused(ada):
    careful = Client(enforce_csrf_checks=True)
    answer = careful.post("/sign-in", {"login": "ada", "password": "correct horse"})
    assert answer.status_code == 403
    assert "Allow cookies" in answer.content.decode()
    assert not is_signed_in(careful)


def test_a_refused_form_names_its_cause(ada):
    careful = Client(enforce_csrf_checks=True)
    careful.cookies["csrftoken"] = "b" * 32  # that of a sign-in in another tab, after the page was opened
    form = {"login": "ada", "password": "correct horse", "csrfmiddlewaretoken": "a" * 32}
    assert "You may have signed in since" in careful.post("/sign-in", form).content.decode()
    origin = {"origin": "https://other.example"}
    assert "came from another address" in careful.post("/sign-in", form, headers=origin).content.decode()
    careful.cookies["csrftoken"] = "of another program on this host"
    assert "reload the page" in careful.post("/sign-in", form).content.decode()
    assert not is_signed_in(careful)


def test_pages_redirect_to_sign_in_and_back(client, workspace):
    answer = client.get("/w/lumen-books/production/overview?range=30d")
    assert answer.status_code == 302
    assert answer["Location"] == "/sign-in?next=/w/lumen-books/production/overview%3Frange%3D30d"
