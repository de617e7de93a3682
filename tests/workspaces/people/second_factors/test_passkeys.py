"""A passkey as second factor: it is added and asked for, and each answer is valid for one challenge only."""

import json

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.utils import timezone

from tests.workspaces.people.account_browser import is_signed_in
from tests.workspaces.people.passkey import Passkey
from workspaces.models import AuditEntry
from workspaces.people.invitations.accept import create_invited_user

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough secret"
FACTOR = "/account/second-factor"


@pytest.fixture
def ada(db):
    return create_invited_user("ada@example.com", now=timezone.now(), username="ada", password=PASSWORD)


@pytest.fixture
def browser(ada):
    client = begin()
    client.post("/account/confirm", {"password": PASSWORD})
    return client


def begin():
    """Return a browser that has sent the password."""
    client = Client()
    client.post("/sign-in", {"login": "ada", "password": PASSWORD})
    return client


def options_of(client, page, kind):
    """Return the options in the page, which the page's script would pass to the browser."""
    return json.loads(json.dumps(client.get(f"{FACTOR}/{page}").context["js_data"][kind]))


def add(browser, passkey):
    options = options_of(browser, "passkeys/add", "creation_options")
    return browser.post(f"{FACTOR}/passkeys/add", {"name": "Laptop", "credential": passkey.create(options)})


def use(client, passkey):
    options = options_of(client, "sign-in", "request_options")
    credential = passkey.get(options)
    client.post(f"{FACTOR}/sign-in", {"credential": credential})
    return credential


def test_a_passkey_is_asked_for_after_the_password(ada, browser, django_capture_on_commit_callbacks):
    passkey = Passkey()
    with django_capture_on_commit_callbacks(execute=True):
        assert add(browser, passkey)["Location"] == f"{FACTOR}/codes"
    client = begin()
    assert not is_signed_in(client)
    for answer in (client.get(f"{FACTOR}/sign-in"), browser.get(f"{FACTOR}/passkeys/add")):
        assert 'class="stack only-script" data-passkey' in answer.content.decode()  # without a script it does nothing
    use(client, passkey)
    assert is_signed_in(client)
    assert "second factor added" in AuditEntry.objects.filter(actor="ada").values_list("action", flat=True)


def test_an_answer_works_once_and_only_for_its_challenge(browser):
    passkey = Passkey()
    add(browser, passkey)
    credential = use(begin(), passkey)
    other = begin()
    other.get(f"{FACTOR}/sign-in")
    other.post(f"{FACTOR}/sign-in", {"credential": credential})
    assert not is_signed_in(other)


def test_a_passkey_of_another_person_or_site_does_not_sign_in(browser):
    passkey = Passkey()
    add(browser, passkey)
    stranger, forger, elsewhere = Passkey(), Passkey(), Passkey("evil.example")
    forger.credential_id = passkey.credential_id
    elsewhere.key, elsewhere.credential_id = passkey.key, passkey.credential_id
    for wrong in (stranger, forger, elsewhere):
        client = begin()
        use(client, wrong)
        assert not is_signed_in(client)


def test_a_page_without_tls_cannot_add_a_passkey(browser):
    assert add(browser, Passkey(scheme="http")).status_code == 200
    assert not Authenticator.objects.exists()


GARBAGE = {"clientDataJSON": "AA", "attestationObject": "oA"}
NO_ANSWERS = ["", "{}", "[]", "1", "null", '{"id": 1}', '{"response": {}}', "not json"]
NO_ANSWERS += [json.dumps({"id": "AAAA", "rawId": "AAAA", "type": "public-key", "response": GARBAGE})]


@pytest.mark.parametrize("credential", NO_ANSWERS)
def test_a_malformed_answer_is_refused(browser, credential):
    browser.get(f"{FACTOR}/passkeys/add")
    assert browser.post(f"{FACTOR}/passkeys/add", {"name": "x", "credential": credential}).status_code == 200
    add(browser, Passkey())
    client = begin()
    client.get(f"{FACTOR}/sign-in")
    assert client.post(f"{FACTOR}/sign-in", {"credential": credential}).status_code == 200
    assert not is_signed_in(client)


def test_passkeys_are_renamed_and_removed_by_their_owner_only(ada, browser):
    add(browser, Passkey())
    pk = Authenticator.objects.get(type="webauthn").pk
    create_invited_user("eve@example.com", now=timezone.now(), username="eve", password=PASSWORD)
    eve = Client()
    eve.post("/sign-in", {"login": "eve", "password": PASSWORD})
    eve.post("/account/confirm", {"password": PASSWORD})
    for action in ("rename", "remove"):
        assert eve.post(f"{FACTOR}/passkeys/{pk}/{action}", {"name": "Eve's"}).status_code == 404
    browser.post(f"{FACTOR}/passkeys/{pk}/rename", {"name": "Phone"})
    assert "Phone" in browser.get(FACTOR).content.decode()
    browser.post(f"{FACTOR}/passkeys/{pk}/remove")
    assert not Authenticator.objects.exists()
