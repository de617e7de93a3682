"""One statement adds to the tallies of refused requests, beside other connections, but not for a deleted workspace."""

from __future__ import annotations

from datetime import timedelta
from threading import Thread

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from workspaces.models import RefusalTally
from workspaces.refusals.counter import Refusal, RefusalSum
from workspaces.refusals.record import record_refusals
from workspaces.remove import remove_workspace

NOW = timezone.now()
HOUR = NOW.replace(minute=0, second=0, microsecond=0)


def sums_of(*key_ids: int, count: int = 1):
    return {
        Refusal(key_id, endpoint, "invalid-json", HOUR): RefusalSum(count, NOW, NOW)
        for endpoint in ("POST /b", "POST /a")
        for key_id in key_ids
    }


@pytest.mark.django_db
def test_many_sums_are_one_statement_and_an_unknown_key_is_left_out(workspace, other_workspace):
    keys = [created.workspace.api_keys.first() for created in (workspace, other_workspace)]
    with CaptureQueriesContext(connection) as queries:
        record_refusals(sums_of(*(key.pk for key in keys), 0))
    assert len(queries) == 1
    rows = RefusalTally.objects.order_by("workspace_id", "endpoint").values_list(
        "workspace_id", "api_key_id", "endpoint"
    )
    assert set(rows) == {(key.workspace_id, key.pk, endpoint) for key in keys for endpoint in ("POST /a", "POST /b")}


@pytest.mark.django_db
def test_a_row_keeps_its_first_and_its_last_time_in_whatever_order_they_arrive(workspace):
    key = workspace.workspace.api_keys.first()
    for seconds in (10, 5, 20, 15):
        at = HOUR + timedelta(seconds=seconds)
        record_refusals({Refusal(key.pk, "POST /a", "invalid-json", HOUR): RefusalSum(2, at, at)})
    tally = RefusalTally.objects.get()
    assert (tally.count, tally.first_at, tally.last_at) == (
        8, HOUR + timedelta(seconds=5), HOUR + timedelta(seconds=20),
    )  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_connections_that_write_the_same_rows_at_once_lose_no_count(workspace):
    key_ids = [key.pk for key in workspace.workspace.api_keys.all()]

    def record(order: int) -> None:
        try:
            for _ in range(20):
                record_refusals(dict(list(sums_of(*key_ids).items())[::order]))
        finally:
            connection.close()

    threads = [Thread(target=record, args=(order,)) for order in (1, -1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {tally.count for tally in RefusalTally.objects.all()} == {40}


@pytest.mark.django_db(transaction=True)
def test_a_deleted_workspace_takes_its_tallies_with_it_and_gets_no_more(workspace):
    key = workspace.workspace.api_keys.first()
    record_refusals(sums_of(key.pk))
    rows = remove_workspace(workspace.workspace, actor="ann", now=NOW)
    assert rows["workspaces_refusaltally"] == 2
    record_refusals(sums_of(key.pk))
    assert RefusalTally.objects.count() == 0
