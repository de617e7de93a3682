"""If a connection may prepare statements, it plans each statement once. Otherwise it prepares none."""

import pytest
from django.db import DatabaseError, connection

from wire.postgresql.prepared_statements import open_prepared_cursor

PLANNED = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%% AS once'"


def run_twice(number: int) -> list[int]:
    with open_prepared_cursor() as cursor:
        cursor.execute("SELECT %(number)s::int AS once", {"number": number})
        cursor.execute("SELECT %(number)s::int AS once", {"number": number + 1})
        row = cursor.fetchone()
        cursor.execute(PLANNED)
        return [*row, *cursor.fetchone()]


@pytest.mark.django_db
def test_a_statement_is_planned_once_for_all_its_parameters():
    assert run_twice(1) == [2, 1]


@pytest.mark.django_db
def test_nothing_is_prepared_behind_a_pooler():
    connection.ensure_connection()
    threshold, connection.connection.prepare_threshold = connection.connection.prepare_threshold, None
    try:
        assert run_twice(100_000) == [100_001, 0]
    finally:
        connection.connection.prepare_threshold = threshold


@pytest.mark.django_db
def test_errors_of_prepared_statements_are_the_usual_ones():
    with pytest.raises(DatabaseError), open_prepared_cursor() as cursor:
        cursor.execute("SELECT nothing_of_this_name")
