"""Pages and downloads read from a real streaming replica, or from the primary if the replica fails or is too old."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection, connections
from psycopg import ServerCursor

from hub.doctor.replica import check_replica
from hub.metrics import database_state
from tests.catalog.reports import observation
from tests.hub.database.standby import Standby, running_standby
from tests.page_queries import find_query, list_page_names
from tests.sample_data import fill_workspace
from wire.postgresql import replica
from wire.postgresql import replica_requests as replica_answers
from wire.postgresql.replica_requests import AGE_HEADER, RECENT_CHANGE
from wire.table_exports import INCOMPLETE

CURRENT_PAGES = {
    "alerts", "audit", "confirmations", "deliveries", "environments", "inspector", "keys", "members",
    "refused-requests", "retention", "secrets", "shared-links",
}  # fmt: skip
DOMAIN_TABLES = re.compile(r"\b(catalog|outcomes|intents)_(?!keptdocument)\w+")
PATIENCE = 10.0  # the longest wait for the replica, in seconds

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "replica"]),
    pytest.mark.xdist_group("replica"),  # the tests' server can have one replica at a time
]


@pytest.fixture(scope="module", autouse=True)
def standby(django_db_setup: None, django_db_blocker: Any) -> Iterator[Standby]:
    with django_db_blocker.unblock():
        primary = dict(connection.settings_dict)
    with running_standby(primary) as server:
        # The replica is declared as a mirror, so that Django does not empty it between tests.
        connections.settings[replica.REPLICA_ALIAS] = {**server.settings, "TEST": {"MIRROR": "default"}}
        yield server
        del connections.settings[replica.REPLICA_ALIAS]


@pytest.fixture(autouse=True)
def clock(standby: Standby, settings: Any, monkeypatch: Any) -> Iterator[replica.ReplicaClock]:
    """Make pages read from the replica, as REPLICA_DATABASE_URL does, and measure its age at each request."""
    settings.REPLICA_DATABASE_URL = "postgresql:"
    settings.DATABASE_ROUTERS = ["wire.postgresql.replica.ReplicaRouter"]
    monkeypatch.setattr(replica, "CHECK_SECONDS", 0)
    monkeypatch.setattr(replica, "AWAY_SECONDS", 0)
    clock = replica.ReplicaClock()
    monkeypatch.setattr(replica_answers, "replica_clock", clock)
    monkeypatch.setattr(database_state, "replica_clock", clock)
    yield clock
    connections[replica.REPLICA_ALIAS].close()
    del connections[replica.REPLICA_ALIAS]


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def wait_until_replayed() -> None:
    position = replica.read_primary_position()
    wait_for(lambda: (replica.read_replayed_position() or 0) >= position)


def read_tables(client: Any, address: str, **query: str) -> tuple[Any, str | None]:
    answer = client.get(f"{address}.json", query)
    assert answer.status_code == 200
    return json.loads(answer.getvalue())["tables"], answer.headers.get(AGE_HEADER)


def wait_until_read(client: Any, address: str) -> None:
    """Wait until the replica has all writes and pages are read from it."""
    wait_until_replayed()
    wait_for(lambda: read_tables(client, f"{address}/outcomes")[1])


def test_every_page_and_download_reads_the_replica_and_says_how_old_it_is(
    workspace, api, browser_client, clock, monkeypatch
):
    address = fill_workspace(workspace, api)
    wait_until_replayed()
    # The age is fixed, because writes of parallel tests may delay the replica. Other tests check its measurement.
    monkeypatch.setattr(clock, "measure_age", lambda: 0.5)
    statements: list[str] = []

    def note(execute: Any, sql: str, *arguments: Any) -> Any:
        statements.append(sql)
        return execute(sql, *arguments)

    queries = {name: find_query(name) for name in sorted(set(list_page_names()) - CURRENT_PAGES)}
    with connection.execute_wrapper(note):
        for name, query in queries.items():
            page = browser_client.get(f"{address}/{name}", query)
            assert (page.status_code, page.headers[AGE_HEADER]) == (200, "1"), name
            assert "Up to 5 seconds old" in page.content.decode()
            tables, age = read_tables(browser_client, f"{address}/{name}", **query)
            assert age == "1", name
            for table, rows in tables.items():
                text = browser_client.get(f"{address}/{name}.csv", {**query, "table": table}).getvalue().decode()
                assert INCOMPLETE not in text
                assert len(list(csv.reader(io.StringIO(text)))) == len(rows) + 1, (name, table)
        for download in ("catalog", "catalog/openapi.json", "catalog/mcp.json"):
            assert api.get(f"/api/{download}").headers[AGE_HEADER] == "1"
    assert [sql for sql in statements if DOMAIN_TABLES.search(sql) and not sql.lstrip().startswith("UPDATE")] == []


def test_a_download_reads_the_replica_a_few_rows_at_a_time(workspace, api, clock, monkeypatch):
    fill_workspace(workspace, api)
    wait_until_replayed()
    monkeypatch.setattr(clock, "measure_age", lambda: 0.5)
    cursors: list[Any] = []

    def note(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        if re.match(r'SELECT "catalog_operation"\."(document|outline)"', sql):
            cursors.append((context["connection"].get_autocommit(), context["cursor"].cursor))
        return execute(sql, parameters, many, context)

    with connections[replica.REPLICA_ALIAS].execute_wrapper(note):
        assert api.get("/api/catalog").headers[AGE_HEADER] == "1"
    # A cursor of the server in a transaction: outside of one, a pooler in front of the replica could lose it.
    assert [(autocommit, isinstance(cursor, ServerCursor)) for autocommit, cursor in cursors] == [(False, True)]


def test_settings_and_decisions_are_read_from_the_primary(workspace, api, browser_client):
    address = fill_workspace(workspace, api)
    for name in CURRENT_PAGES:
        page = browser_client.get(f"{address}/{name}")
        assert page.status_code == 200
        assert AGE_HEADER not in page.headers
        assert "seconds old" not in page.content.decode()
    assert AGE_HEADER not in api.get("/api/witness-rules").headers


def test_a_replica_that_lags_too_far_is_not_read(workspace, api, browser_client, standby, settings):
    settings.REPLICA_MAX_AGE = 4
    address = fill_workspace(workspace, api)
    wait_until_read(browser_client, address)
    standby.execute("SELECT pg_wal_replay_pause()")
    try:
        before, age = read_tables(browser_client, f"{address}/outcomes")
        assert age is not None
        report_purchase(api)
        while read_tables(browser_client, f"{address}/outcomes")[1] is not None:
            time.sleep(0.1)
        assert read_tables(browser_client, f"{address}/outcomes")[0] != before
    finally:
        standby.execute("SELECT pg_wal_replay_resume()")
    wait_for(lambda: read_tables(browser_client, f"{address}/outcomes")[1])


def test_pages_are_read_from_the_primary_while_the_replica_is_stopped(workspace, api, browser_client, standby):
    address = fill_workspace(workspace, api)
    wait_until_read(browser_client, address)
    before, age = read_tables(browser_client, f"{address}/outcomes")
    standby.stop()
    try:
        assert age is not None
        assert read_tables(browser_client, f"{address}/outcomes") == (before, None)
        assert browser_client.get(f"{address}/outcomes").status_code == 200
        result = check_replica()
        reason = "No such file or directory"  # its socket
        assert result.state == "wrong"
        assert result.detail == f"The replica does not answer: {reason}. Pages are read from the primary."
    finally:
        standby.start()
    wait_for(lambda: read_tables(browser_client, f"{address}/outcomes")[1])


def test_a_page_is_read_from_the_primary_if_the_replica_fails_during_it(
    workspace, api, browser_client, clock, monkeypatch
):
    """Simulate a replica that becomes unreachable between the measurement of its age and the page."""
    address = fill_workspace(workspace, api)
    wait_until_replayed()
    monkeypatch.setattr(clock, "measure_age", lambda: 0.5)
    replica_connection = connections[replica.REPLICA_ALIAS]
    replica_connection.ensure_connection()
    replica_connection.connection.pgconn.finish()
    page = browser_client.get(f"{address}/outcomes")
    assert (page.status_code, AGE_HEADER in page.headers) == (200, False)


def test_a_person_sees_their_own_change_at_once(workspace, api, browser_client, standby):
    address = fill_workspace(workspace, api)
    wait_until_replayed()
    standby.execute("SELECT pg_wal_replay_pause()")
    try:
        browser_client.post(f"{address}/rules/redaction", {"kind": "drop", "name": "nickname"})
        assert RECENT_CHANGE in browser_client.cookies
        page = browser_client.get(f"{address}/rules")
        assert "nickname" in page.content.decode()
        assert AGE_HEADER not in page.headers
    finally:
        standby.execute("SELECT pg_wal_replay_resume()")


def test_a_machine_gets_no_cookie(api):
    answer = api.post("/api/witness-reports", {"reportId": "x", "observations": [observation()]})
    assert RECENT_CHANGE not in answer.cookies


def test_a_primary_configured_as_replica_is_refused(workspace, api, browser_client, monkeypatch):
    address = fill_workspace(workspace, api)
    settings_dict = connections[replica.REPLICA_ALIAS].settings_dict
    monkeypatch.setitem(settings_dict, "HOST", connection.settings_dict["HOST"])
    assert read_tables(browser_client, f"{address}/outcomes")[1] is None
    assert "not name a replica" in check_replica().detail


def test_the_doctor_says_how_far_the_replica_is_behind(standby, settings):
    assert check_replica().state == "ok"
    settings.REPLICA_MAX_AGE = 1
    standby.execute("SELECT pg_wal_replay_pause()")
    try:
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE replica_test (); DROP TABLE replica_test")
        assert check_replica().state == "wrong"
    finally:
        standby.execute("SELECT pg_wal_replay_resume()")


def test_the_lag_is_a_metric(client, settings):
    settings.METRICS_TOKEN = "t" * 32
    headers = {"Authorization": f"Bearer {settings.METRICS_TOKEN}"}

    def read_lag() -> float:
        text = client.get("/metrics", headers=headers).content.decode()
        [lag] = re.findall(r"^affidavit_replica_lag_seconds (\S+)$", text, re.M)
        return float(lag)

    # Other tests write to the same server, so the replica may be behind at first. Then the metric is +Inf.
    wait_for(lambda: 0 < read_lag() < PATIENCE)


def report_purchase(api: Any) -> None:
    body = {"outcomes": [{"conversationId": "late", "outcomeKey": "purchase"}]}
    assert api.post("/api/conversation-outcomes", body).status_code == 200
