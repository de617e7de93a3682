"""A page reads one snapshot: a report that arrives meanwhile is in all of its figures or in none."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.utils import DatabaseError
from django.utils import timezone

from outcomes.ingest.record import Report, record_outcomes
from tests.catalog.reports import environment_of
from tests.page_queries import find_query, list_page_names
from tests.sample_data import fill_workspace
from wire.postgresql.snapshot import read_snapshot
from workspaces.shared_links.links import share_page

pytestmark = pytest.mark.django_db(transaction=True)


def run_elsewhere(function: Callable[[], object]) -> None:
    """Call a function with a connection of its own, and commit what it writes."""

    def run() -> None:
        function()
        connection.close()

    thread = Thread(target=run)
    thread.start()
    thread.join()


@contextmanager
def writing_meanwhile(write: Callable[[], object]) -> Iterator[list[str]]:
    """After each statement on tables of outcomes in the block, call `write`, which commits. Yield these statements."""
    statements: list[str] = []

    def execute(run: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        result = run(sql, parameters, many, context)
        if "outcomes_" in str(sql):
            statements.append(str(sql))
            run_elsewhere(write)
        return result

    with connection.execute_wrapper(execute):
        yield statements


@pytest.fixture
def report_more(workspace: Any, api: Any) -> Callable[[], object]:
    fill_workspace(workspace, api)
    environment = environment_of(workspace)
    numbers = iter(range(100_000))

    def report() -> None:
        reports = [Report(f"conv_{number}", f"key {next(numbers)}") for number in (1, 2, 3)]
        record_outcomes(environment, [*reports, Report(f"unknown {next(numbers)}", "purchase")], now=timezone.now())

    return report


@pytest.mark.parametrize("page", ["overview", "outcomes", "joins"])
def test_a_report_that_arrives_while_a_page_is_made_is_in_none_of_its_figures(
    browser_client, workspace, report_more, page
):
    report_more()
    address = f"/w/{workspace.workspace.slug}/production/{page}?range=7d"
    before = browser_client.get(address)
    with writing_meanwhile(report_more) as statements:
        meanwhile = browser_client.get(address)
    assert len(statements) > 2
    assert browser_client.get(address)["ETag"] != before["ETag"]
    assert list_figures(meanwhile) == list_figures(before)


def list_figures(response: Any) -> list[str]:
    """Return the words of a page, except times."""
    assert response.status_code == 200
    main = response.content.decode().partition("<main")[2].partition("</main>")[0]
    return re.sub(r"<time\b.*?</time>", "", main, flags=re.DOTALL).split()


def test_all_tables_of_a_download_are_of_one_snapshot(browser_client, workspace, report_more):
    address = f"/w/{workspace.workspace.slug}/production/outcomes.json?range=7d"
    before = json.loads(browser_client.get(address).getvalue())["tables"]
    with writing_meanwhile(report_more):
        meanwhile = json.loads(browser_client.get(address).getvalue())["tables"]
    assert meanwhile == before


def test_every_page_only_reads(browser_client, workspace, api):
    """PostgreSQL refuses writes within a snapshot. A test that runs in a transaction cannot notice this."""
    start = fill_workspace(workspace, api)
    for page in list_page_names():
        for ending in ("", ".json"):
            response = browser_client.get(f"{start}/{page}{ending}", find_query(page))
            assert response.status_code == 200, page
            assert response.content if not response.streaming else response.getvalue()
    link = share_page(environment_of(workspace), "outcomes", "", days=7, actor="test", now=timezone.now())[1]
    assert browser_client.get(f"/shared/{link}").status_code == 200


def test_a_snapshot_refuses_to_write_and_leaves_no_transaction(workspace):
    with pytest.raises(DatabaseError, match="read-only"), read_snapshot():
        workspace.workspace.save()
    with read_snapshot():
        assert connection.in_atomic_block
    assert not connection.in_atomic_block
    workspace.workspace.save()


def test_an_open_transaction_continues_and_is_committed(workspace):
    with transaction.atomic():
        workspace.workspace.name = "Another name"
        with read_snapshot():
            workspace.workspace.save()
    workspace.workspace.refresh_from_db()
    assert workspace.workspace.name == "Another name"
