"""Which errors of the database mean that it cannot be used at the moment, so that the answer is 503."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction

from wire.postgresql.database_outage import is_outage

pytestmark = pytest.mark.django_db(transaction=True)


def find_error(sql: str) -> DatabaseError:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '20ms'")
        with pytest.raises(DatabaseError) as error:
            cursor.execute(sql)
    return error.value


def test_a_lock_that_another_transaction_keeps_for_too_long_is_an_outage():
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(4242)")
        assert is_outage(find_error("SELECT pg_advisory_lock(4242)"))
    finally:
        other.close()


@pytest.mark.parametrize("sql", ["SELECT 1 / 0", "SELECT 1 FROM no_such_table", "SELECT 'x'::int"])
def test_a_wrong_statement_is_no_outage(sql):
    assert not is_outage(find_error(sql))
