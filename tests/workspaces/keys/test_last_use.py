"""The last use of a key is stored at most once in five minutes, and never makes a request wait."""

from datetime import timedelta

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from workspaces.keys.digest import hash_key
from workspaces.keys.last_use import note_use
from workspaces.models import ApiKey

OUTCOMES = {"outcomes": []}


def full_key(workspace):
    return ApiKey.objects.get(digest=hash_key(workspace.full_key))


@pytest.mark.django_db
def test_the_last_use_is_stored_by_the_first_request_in_five_minutes(api, workspace):
    def count_updates():
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert api.post("/api/conversation-outcomes", OUTCOMES).status_code == 200
        return sum("UPDATE workspaces_apikey" in query["sql"] for query in queries)

    assert full_key(workspace).last_used_at is None
    assert [count_updates() for _ in range(3)] == [1, 0, 0]
    first = full_key(workspace).last_used_at
    ApiKey.objects.update(last_used_at=first - timedelta(minutes=4))
    assert count_updates() == 0
    ApiKey.objects.update(last_used_at=first - timedelta(minutes=6))
    assert count_updates() == 1
    assert full_key(workspace).last_used_at >= first


@pytest.mark.django_db
def test_the_last_use_is_right_again_after_the_clock_was_set_ahead_and_back(api, workspace):
    ApiKey.objects.update(last_used_at=timezone.now() + timedelta(days=365))
    assert api.post("/api/conversation-outcomes", OUTCOMES).status_code == 200
    assert full_key(workspace).last_used_at <= timezone.now()


@pytest.mark.django_db
def test_a_request_with_an_expired_key_does_not_count_as_a_use(api, workspace):
    ApiKey.objects.update(expires_at=timezone.now())
    api.post("/api/conversation-outcomes", OUTCOMES)
    assert full_key(workspace).last_used_at is None


@pytest.mark.django_db(transaction=True)
def test_a_request_does_not_wait_for_another_that_stores_the_use(workspace):
    key = full_key(workspace)
    second = connections.create_connection("default")
    try:
        with transaction.atomic():
            ApiKey.objects.filter(pk=key.pk).update(name="locked")
            with second.cursor() as cursor:
                cursor.execute("SET statement_timeout = 2000")
            original, connections["default"] = connections["default"], second
            try:
                note_use(key, now=timezone.now())
            finally:
                connections["default"] = original
    finally:
        second.close()
    assert full_key(workspace).last_used_at is None
    note_use(key, now=timezone.now())
    assert full_key(workspace).last_used_at is not None
