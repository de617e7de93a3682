"""The hub reads and writes the same data, whatever formats the database or its role sets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone
from psycopg import sql

from hub.local.database.monthly_logs import create_partitions
from tests.hub.database.pooler import connect_through_pooler
from tests.page_queries import find_query, list_page_names
from tests.sample_data import fill_workspace

FORMATS = {
    "datestyle": "German, DMY",
    "intervalstyle": "sql_standard",
    "standard_conforming_strings": "off",
    "bytea_output": "escape",
    "quote_all_identifiers": "on",
    "timezone": "America/St_Johns",
    "extra_float_digits": "-5",
}


@pytest.fixture
def _use_formats(transactional_db: None) -> Iterator[None]:
    """Set formats of its own for the database of the test, as they apply to new connections."""
    database = sql.Identifier(connection.settings_dict["NAME"])
    with connection.cursor() as cursor:
        for name, value in FORMATS.items():
            cursor.execute(sql.SQL("ALTER DATABASE {} SET {} = {}").format(database, sql.Identifier(name), value))
    connection.close()
    try:
        yield
    finally:
        connection.close()
        with connection.cursor() as cursor:
            cursor.execute(sql.SQL("ALTER DATABASE {} RESET ALL").format(database))
        connection.close()


@pytest.fixture(params=["server", "transaction pooler"])
def _connect(request: pytest.FixtureRequest, tmp_path: Path, _use_formats: None) -> Iterator[None]:
    """Send the statements to the server itself, or through PgBouncer."""
    if request.param == "server":
        yield
        return
    with connect_through_pooler(tmp_path):
        yield


@pytest.mark.usefixtures("_connect")
def test_every_page_works_whatever_formats_the_database_sets(workspace, api, browser_client):
    address = fill_workspace(workspace, api)
    for name in list_page_names():
        for extension in ("", ".json"):
            answer = browser_client.get(f"{address}/{name}{extension}", find_query(name))
            assert answer.status_code == 200, name
            assert answer.getvalue(), "a streamed answer is read to its end, which ends its transaction"


@pytest.mark.usefixtures("_use_formats")
def test_the_partitions_of_months_are_recognised_whatever_formats_the_database_sets():
    create_partitions(now=timezone.now())
