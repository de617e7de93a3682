"""The session of a browser that goes to the provider: how long it is kept, and what the back button finds."""

from datetime import timedelta

import pytest
from django.conf import settings as hub_settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from tests.workspaces.people.account_browser import is_signed_in
from tests.workspaces.people.oidc_provider import START, ask_provider, sign_in

pytestmark = pytest.mark.django_db


def test_the_session_of_somebody_who_only_began_to_sign_in_is_soon_deleted(client, provider):
    client.get(START)
    assert Session.objects.get().expire_date <= timezone.now() + timedelta(minutes=10)


def test_signing_in_prolongs_the_session(client, provider, ada):
    answer = sign_in(client)
    assert answer.cookies["sessionid"]["max-age"] == hub_settings.SESSION_COOKIE_AGE
    assert Session.objects.get().expire_date > timezone.now() + timedelta(days=13)


def test_somebody_who_is_signed_in_stays_so_for_as_long_as_before(client, provider, ada):
    sign_in(client)
    client.get(START)
    assert Session.objects.get().expire_date > timezone.now() + timedelta(days=13)


def test_the_back_button_leads_somebody_who_is_signed_in_home(client, provider, ada):
    callback = ask_provider(client.get(START)["Location"])
    client.get(callback)
    answer = client.get(callback)
    assert (answer.status_code, answer["Location"]) == (302, "/")


def test_two_tabs_sign_in_one_after_the_other(client, provider, ada):
    callbacks = [
        ask_provider(client.get(f"{START}?next=/{page}")["Location"]) for page in ("account", "workspaces/new")
    ]
    assert [client.get(callback)["Location"] for callback in callbacks] == ["/account", "/workspaces/new"]


def test_signing_in_gives_the_browser_another_session(client, provider, ada):
    callback = ask_provider(client.get(START)["Location"])
    earlier_key = client.cookies["sessionid"].value
    client.get(callback)
    assert client.cookies["sessionid"].value != earlier_key
    fixed_client = Client()
    fixed_client.cookies["sessionid"] = earlier_key
    assert not is_signed_in(fixed_client)
