"""Signing in by a link that works once."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from workspaces.models import SignInLink
from workspaces.people.sign_in.links import VALID_FOR, create_link, find_link_user, use_link

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def ada(db):
    return get_user_model().objects.create_user("ada")


def test_a_link_works_once(ada):
    token = create_link(ada, now=NOW)
    assert use_link(token, now=NOW) == ada
    assert use_link(token, now=NOW) is None


@pytest.mark.parametrize(("age", "works"), [(VALID_FOR - timedelta(seconds=1), True), (VALID_FOR, False)])
def test_a_link_works_for_fifteen_minutes(ada, age, works):
    token = create_link(ada, now=NOW)
    assert (use_link(token, now=NOW + age) == ada) is works


def test_only_a_digest_of_the_token_is_stored(ada):
    token = create_link(ada, now=NOW)
    stored = bytes(SignInLink.objects.get().digest)
    assert len(stored) == 32
    assert token.encode() not in stored


def test_a_new_link_deletes_expired_ones(ada):
    create_link(ada, now=NOW)
    create_link(ada, now=NOW + VALID_FOR)
    assert SignInLink.objects.count() == 1


def test_opening_a_link_does_not_use_it_up(ada):
    token = create_link(ada, now=NOW)
    assert find_link_user(token, now=NOW) == find_link_user(token, now=NOW) == ada


def test_a_link_of_a_disabled_user_does_not_work(ada):
    token = create_link(ada, now=NOW)
    ada.is_active = False
    ada.save()
    assert use_link(token, now=NOW) is None


def test_opening_the_link_shows_a_button_and_pressing_it_signs_in(client, ada):
    address = f"/sign-in/{create_link(ada, now=timezone.now())}"
    for _ in range(2):
        assert b"Sign in as ada" in client.get(address).content
    assert "_auth_user_id" not in client.session
    assert client.post(address)["Location"] == "/"
    assert client.session["_auth_user_id"] == str(ada.pk)


def test_a_used_link_says_so_and_what_to_do(client, ada):
    address = f"/sign-in/{create_link(ada, now=timezone.now())}"
    client.post(address)
    client.post("/sign-out")
    answer = client.post(address)
    assert answer.status_code == 410
    assert b"This link no longer works" in answer.content
    assert "_auth_user_id" not in client.session
    assert b"This link no longer works" in client.get(address).content


def test_an_invented_token_signs_nobody_in(client, ada):
    assert client.post("/sign-in/never-made").status_code == 410
    assert "_auth_user_id" not in client.session
