"""A connection that no longer works is replaced before a request. A good one is checked at most once a second."""

import pytest
from django.core.signals import request_finished, request_started
from django.db import DatabaseError, connection
from django.db.backends.postgresql import base

from wire.postgresql.prepared_statements import open_prepared_cursor

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def questions(monkeypatch):
    """Return a list that gets the result of each check whether the connection works."""
    answers, ask = [], base.DatabaseWrapper.is_usable

    def note(wrapper):
        answers.append(ask(wrapper))
        return answers[-1]

    monkeypatch.setattr(base.DatabaseWrapper, "is_usable", note)
    connection.close()
    return answers


def select_one() -> int:
    """Run one statement in a request of its own, and return its value."""
    request_started.send(None)
    try:
        with open_prepared_cursor() as cursor:
            cursor.execute("SELECT 1")
            return cursor.fetchone()[0]
    finally:
        request_finished.send(None)


def end_backend() -> None:
    """Let the server end the connection."""
    backend = connection.connection.info.backend_pid
    other_connection = connection.copy()
    with other_connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])
    other_connection.close()


def test_requests_within_a_second_of_a_check_do_not_check_the_connection(questions, monkeypatch):
    monkeypatch.setattr("wire.postgresql.base.TRUSTED_FOR", 3600.0)
    assert [select_one() for _ in range(5)] == [1] * 5
    assert questions == []


def test_a_connection_that_was_not_checked_for_a_second_is_checked(questions, monkeypatch):
    monkeypatch.setattr("wire.postgresql.base.TRUSTED_FOR", -1.0)
    assert [select_one() for _ in range(5)] == [1] * 5
    assert questions == [True] * 4  # the first request opens the connection and does not check it


@pytest.mark.parametrize("trusted_for", [-1.0, 3600.0])
def test_a_connection_that_the_database_closed_since_the_last_request_is_replaced(trusted_for, questions, monkeypatch):
    monkeypatch.setattr("wire.postgresql.base.TRUSTED_FOR", trusted_for)
    select_one()
    select_one()
    end_backend()
    assert select_one() == 1
    assert questions[-1] is False


def test_after_an_error_the_connection_is_checked(questions, monkeypatch):
    monkeypatch.setattr("wire.postgresql.base.TRUSTED_FOR", 3600.0)
    select_one()
    select_one()
    request_started.send(None)
    with pytest.raises(DatabaseError), open_prepared_cursor() as cursor:
        cursor.execute("SELECT nothing_of_this_name")
    request_finished.send(None)
    assert questions == [True]
