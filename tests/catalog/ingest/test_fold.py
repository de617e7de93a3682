"""The fold counts each report exactly once, in any order, by any number of workers.

A report that cannot be folded blocks no other (contract §4).
"""

from __future__ import annotations

import random
import threading
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test import Client
from django.utils import timezone

from catalog import inbox_queries, operation_queries
from catalog.ingest import fold as folding
from catalog.ingest import report_batch, tasks
from catalog.ingest.fold import fold_batch, fold_reports
from catalog.ingest.observations import unpack_sums
from catalog.models import Drift, Operation, OperationPart, WitnessReport
from tests.catalog.reports import environment_of, observation, report
from wire.task_turns import Turn
from workspaces.create import create_workspace

pytestmark = pytest.mark.django_db
AT = 1_790_000_000
REPORTS = [
    report(observation(response={"id": 1, "tags": []}, firstSeenAt=AT, lastSeenAt=AT + 60)),
    report(observation(path="/orders/{id}", response={"id": "x", "tags": ["a"]}, lastSeenAt=AT + 90_000)),
    report(
        observation(path="/orders/{id}", status=404, count=7, lastSeenAt=AT + 5),
        observation("POST", "/orders", 201, request={"a": [1.5]}, query={"dry": "1"}, lastSeenAt=AT),
    ),
    report(observation("POST", "/orders", 422, request={"a": None}, response={"detail": "x"}, lastSeenAt=AT + 7)),
    report(observation("GET", "/wp-admin", 404, count=3, lastSeenAt=AT)),
    report(observation("DELETE", "/orders/{orderId}", 204, count=2, lastSeenAt=AT)),
]


def send(api: Any, *reports: Any) -> None:
    for sent in reports:
        assert api.post("/api/witness-reports", sent).status_code == 202


def list_everything() -> list[Any]:
    """Return the operations that the catalog stores and the evidence of their parts, without row ids."""
    operations = Operation.objects.order_by("method", "key").values_list(
        "method",
        "key",
        "statuses",
        "names",
        "types",
        "undecided",
        "begun",
        "observations",
        "document",
        "outline_digest",
    )
    parts = OperationPart.objects.order_by("operation__method", "operation__key", "part", "status").values_list(
        "part", "status", "evidence"
    )
    return [*map(str, operations), *parts]


def test_a_fold_sums_the_report_marks_it_as_folded_and_deletes_its_body(api, workspace):
    send(api, *REPORTS)
    assert fold_reports(environment_of(workspace), now=timezone.now()) == len(REPORTS)
    assert not WitnessReport.objects.filter(folded_at=None).exists()
    assert not WitnessReport.objects.exclude(sums=None).exists()
    operations = operation_queries.visible_operations(environment_of(workspace))
    assert {(row.method, row.path, row.observations) for row in operations} == {
        ("GET", "/orders/{id}", 9),
        ("POST", "/orders", 2),
        ("DELETE", "/orders/{orderId}", 2),
    }


@pytest.mark.parametrize("seed", range(4))
def test_any_order_and_batching_give_the_same_catalog(api, workspace, other_workspace, seed, monkeypatch):
    send(api, *REPORTS)
    fold_reports(environment_of(workspace), now=timezone.now())
    expected = list_everything()
    Operation.objects.all().delete()

    chance = random.Random(seed)
    monkeypatch.setattr(report_batch, "MAX_BATCH_REPORTS", chance.choice([1, 2, 5]))
    for body in chance.sample(REPORTS, len(REPORTS)):
        assert api.post("/api/witness-reports", body, key=other_workspace.full_key).status_code == 202
        if chance.random() < 0.3:
            fold_reports(environment_of(other_workspace), now=timezone.now())
    fold_reports(environment_of(other_workspace), now=timezone.now())
    assert list_everything() == expected


def test_a_redelivery_after_the_fold_changes_nothing(api, workspace):
    send(api, *REPORTS)
    fold_reports(environment_of(workspace), now=timezone.now())
    before = list_everything()
    send(api, *REPORTS)
    assert fold_reports(environment_of(workspace), now=timezone.now()) == 0
    assert list_everything() == before


def test_a_report_that_an_earlier_version_stored_is_folded(api, workspace):
    send(api, report(observation(response={"id": 1}, count=3)))
    stored_report = WitnessReport.objects.get()
    stored_report.sums = unpack_sums(stored_report.sums)
    stored_report.save()
    fold_reports(environment_of(workspace), now=timezone.now())
    assert Operation.objects.get().observations == 3


def test_an_operation_first_seen_with_errors_appears_with_the_first_other_status(api, workspace):
    environment = environment_of(workspace)
    send(api, report(observation("GET", "/a", 404, count=5)))
    fold_reports(environment, now=timezone.now())
    assert not operation_queries.visible_operations(environment).exists()
    send(api, report(observation("GET", "/a", 200)))
    fold_reports(environment, now=timezone.now())
    assert operation_queries.visible_operations(environment).get().observations == 6


@pytest.mark.parametrize(
    "broken",
    [[{"method": "GET"}], {"not": "a list"}, [{"method": "GET", "key": "/a", "parts": 7}], "too long"],
)
def test_a_report_that_cannot_be_folded_becomes_a_dead_letter_and_blocks_no_other(api, workspace, broken):
    send(api, *REPORTS[:3])
    victim = WitnessReport.objects.order_by("id")[1]
    if broken == "too long":
        victim.sums = unpack_sums(victim.sums)
        victim.sums[0]["method"] = "G" * 99  # the database refuses this
    else:
        victim.sums = broken
    victim.save()
    fold_reports(environment_of(workspace), now=timezone.now())
    victim.refresh_from_db()
    assert victim.dead_lettered_at
    assert victim.sums
    assert victim.fault
    assert WitnessReport.objects.exclude(folded_at=None).count() == 2
    assert fold_reports(environment_of(workspace), now=timezone.now()) == 0


def test_other_environments_are_left_alone(api, workspace, other_workspace):
    send(api, report(observation(), environment="staging"))
    assert fold_reports(environment_of(workspace), now=timezone.now()) == 0
    assert fold_reports(environment_of(other_workspace, "staging"), now=timezone.now()) == 0
    assert fold_reports(environment_of(workspace, "staging"), now=timezone.now()) == 1


def test_a_batch_is_bounded_in_bytes_but_never_empty(api, workspace, monkeypatch):
    monkeypatch.setattr(report_batch, "MAX_BATCH_BYTES", 1)
    send(api, *REPORTS)
    assert fold_batch(environment_of(workspace), now=timezone.now()) == 1


def let_reports_wait(time: timedelta) -> None:
    WitnessReport.objects.update(received_at=F("received_at") - time)


def test_the_sweep_leaves_new_reports_to_the_message_for_the_worker(api, workspace):
    send(api, *REPORTS)
    let_reports_wait(tasks.LONGEST_WAIT - timedelta(seconds=2))
    tasks.sweep()
    assert inbox_queries.unfolded_reports().count() == len(REPORTS)


def test_the_sweep_folds_reports_whose_message_was_lost(api, workspace):
    send(api, *REPORTS)
    let_reports_wait(tasks.LONGEST_WAIT)
    tasks.sweep()
    assert not inbox_queries.unfolded_reports().exists()


def test_the_sweep_finds_reports_stored_while_the_clock_was_ahead(api):
    send(api, *REPORTS)
    let_reports_wait(-timedelta(hours=3))
    tasks.sweep()
    assert not inbox_queries.unfolded_reports().exists()


@pytest.fixture
def short_turns(monkeypatch) -> list[Any]:
    """Let a worker's turn end after one batch of one report. Return all doorbells, each as a task and ids."""
    rings: list[Any] = []
    monkeypatch.setattr(report_batch, "MAX_BATCH_REPORTS", 1)
    monkeypatch.setattr(tasks, "Turn", lambda: Turn(0))
    monkeypatch.setattr(tasks.wake_worker, "send_after_commit", lambda task, *ids: rings.append((task, *ids)))
    return rings


def test_folding_a_busy_environment_ends_its_turn_and_wakes_the_worker_again(api, workspace, short_turns):
    send(api, *REPORTS)
    del short_turns[:]
    environment = environment_of(workspace)
    tasks.fold(environment.pk)
    assert inbox_queries.unfolded_reports().count() == len(REPORTS) - 1
    assert short_turns == [(tasks.fold, environment.pk)]


def test_the_sweep_folds_everything_even_beyond_one_turn(api, short_turns):
    send(api, *REPORTS)
    let_reports_wait(tasks.LONGEST_WAIT)
    tasks.sweep()
    assert not inbox_queries.unfolded_reports().exists()


def test_drift_is_dated_after_the_report_that_caused_it(api, workspace, monkeypatch):
    first, second = (report(observation(response={"id": value})) for value in (1, "x"))
    monkeypatch.setattr(report_batch, "MAX_BATCH_REPORTS", 1)
    merge = folding.merge_into_catalog

    def merge_while_another_report_comes(*arguments: Any, now: datetime) -> None:
        merge(*arguments, now=now)
        if WitnessReport.objects.count() == 1:
            send(api, second)

    monkeypatch.setattr(folding, "merge_into_catalog", merge_while_another_report_comes)
    send(api, first)
    fold_reports(environment_of(workspace))  # called without a turn, because a turn could end early on a slow machine
    cause = WitnessReport.objects.get(report_id=second["reportId"])
    assert Drift.objects.get().at >= cause.received_at


def test_a_task_for_a_deleted_environment_does_nothing():
    tasks.fold(0)


def test_the_oldest_unfolded_report_tells_its_age(api, workspace):
    now = timezone.now()
    assert inbox_queries.measure_fold_lag(now=now) is None
    send(api, *REPORTS)
    WitnessReport.objects.update(received_at=now - timedelta(seconds=90))
    assert inbox_queries.measure_fold_lag(now=now) == 90
    fold_reports(environment_of(workspace), now=now)
    assert inbox_queries.measure_fold_lag(now=now) is None


@pytest.mark.django_db(transaction=True)
def test_folds_at_the_same_time_count_every_report_once(monkeypatch):
    monkeypatch.setattr(report_batch, "MAX_BATCH_REPORTS", 3)
    created = create_workspace("Busy", actor="test", now=timezone.now(), with_full_key=True)
    environment = environment_of(created)
    client = Client()
    failures: list[BaseException] = []

    def worker() -> None:
        try:
            for _ in range(10):
                fold_reports(environment, now=timezone.now())
        except BaseException as error:  # checked below: a failure in a thread must fail the test
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=worker) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(40):
        sent = report(observation(path="/a/{id}" if number % 2 else "/a/{key}", response={"n": number % 3 or "x"}))
        response = client.post(
            "/api/witness-reports", sent, content_type="application/json",
            headers={"x-service-api-key": created.full_key},
        )  # fmt: skip
        assert response.status_code == 202
    for thread in threads:
        thread.join()
    fold_reports(environment, now=timezone.now())
    assert failures == []
    assert operation_queries.visible_operations(environment).get().observations == 40
    assert OperationPart.objects.get().evidence["counts"] == {"object": 40}
