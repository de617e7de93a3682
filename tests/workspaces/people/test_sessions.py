"""Whoever has a dump of the database cannot use the sessions in it."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.models import Session
from django.core import signing
from django.test import Client
from django.utils import timezone

from workspaces.people.sessions import SessionStore, hash_session_key
from workspaces.people.sign_in.links import create_link

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator():
    return get_user_model().objects.create_superuser("operator")


def test_a_session_key_from_the_database_is_no_valid_cookie(client, operator):
    client.force_login(operator)
    assert client.get("/workspaces/new").status_code == 200
    for row in Session.objects.all():
        thief = Client(headers={"cookie": f"sessionid={row.session_key}"})
        assert thief.get("/workspaces/new")["Location"].startswith("/sign-in")


def test_the_row_of_a_session_is_encrypted(client, operator):
    client.force_login(operator)
    row = Session.objects.get()
    cookie = client.cookies["sessionid"].value
    assert row.session_key == hash_session_key(cookie) != cookie
    assert "_auth_user_id" not in row.session_data
    with pytest.raises(signing.BadSignature):
        signing.loads(row.session_data, salt="django.contrib.sessions.SessionStore")


def test_a_session_survives_saving_and_cycling():
    store = SessionStore()
    store["colour"] = "green"
    store.create()
    first = store.session_key
    assert SessionStore(first).load() == {"colour": "green"}
    store.cycle_key()
    assert SessionStore(store.session_key).load() == {"colour": "green"}
    assert not SessionStore().exists(first)
    store.flush()
    assert Session.objects.count() == 0


def test_two_requests_of_one_session_keep_what_the_other_changed():
    store = SessionStore()
    store["stays"], store["is shown"], store["is counted"] = 1, "secret", {"by": 1}
    store.create()
    first, second = SessionStore(store.session_key), SessionStore(store.session_key)
    assert first["stays"] == second["stays"] == 1
    second["new secret"] = "secret 2"
    del second["is shown"]
    second.save()
    first["is counted"]["by"] = 2
    first["another"] = 3
    first.save()
    del first["another"]
    first.save()
    assert SessionStore(store.session_key).load() == {"stays": 1, "is counted": {"by": 2}, "new secret": "secret 2"}
    second.flush()
    first["late"] = 4
    with pytest.raises(UpdateError):
        first.save()


def test_a_page_that_takes_a_secret_leaves_a_newer_one_of_the_same_name():
    store = SessionStore()
    store["shown once: key"], store["signs"] = "key 1", 1
    store.create()
    page, form = SessionStore(store.session_key), SessionStore(store.session_key)
    assert page.pop("shown once: key") == "key 1"
    form["shown once: key"] = "key 2"
    form.save()
    page.save()
    assert SessionStore(store.session_key).load() == {"shown once: key": "key 2", "signs": 1}


def test_a_row_under_a_secret_key_that_is_no_fallback_is_an_empty_session(settings):
    store = SessionStore()
    store["colour"] = "green"
    store.create()
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another" * 8, [settings.SECRET_KEY]
    assert SessionStore(store.session_key).load() == {"colour": "green"}
    settings.SECRET_KEY_FALLBACKS = []
    assert SessionStore(store.session_key).load() == {}


def test_the_key_of_an_unknown_session_is_not_used_again():
    store = SessionStore("x" * 32)
    assert store.load() == {}
    assert store.session_key is None


def test_the_cookie_is_same_site_and_not_readable_by_scripts(client, operator):
    client.post(f"/sign-in/{create_link(operator, now=timezone.now())}")
    cookie = client.cookies["sessionid"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
