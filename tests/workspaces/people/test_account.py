"""The pages of an account, and what the audit log has of sign-ins."""

import re

import pytest
from django.contrib.auth import get_user_model
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
from workspaces.models import AuditEntry
from workspaces.people.sign_in.links import create_link

pytestmark = pytest.mark.django_db


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
