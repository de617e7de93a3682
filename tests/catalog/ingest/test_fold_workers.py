"""Several workers fold one environment with the same result as one worker: each report counts once (contract §4)."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from catalog import inbox_queries, operation_queries
from catalog.ingest import fold as folding
from catalog.ingest import report_batch, tasks
from catalog.ingest.fold import fold_batch, fold_reports
from catalog.models import Drift, ExcessOperation, Operation, OperationPart, OperationVersion, WitnessReport
from catalog.reporter_activity import record_activity
from catalog.rules.locks import lock_operations
from tests.catalog.reports import environment_of, observation, report
from workspaces.models import Environment

pytestmark = pytest.mark.django_db(transaction=True)
AT = 1_790_000_000
NAMES = "abcdefgh"
PATIENCE = 20  # the longest wait in seconds; usually it takes milliseconds


class KilledError(BaseException):
    """An error that stops a worker at any point. It is a BaseException, so that no handler of the fold catches it."""


def send(api: Any, *observations: dict[str, Any], environment: str = "production") -> None:
    response = api.post("/api/witness-reports", report(*observations, environment=environment))
    assert response.status_code == 202, response.content


def run_in_thread(work: Callable[[], object]) -> threading.Thread:
    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@contextmanager
def first_worker_stopped_at(
    monkeypatch: Any, function: str, environment: Environment, fold: Callable[[Environment], int] = fold_reports
) -> Iterator[None]:
    """Fold in another thread. The thread pauses before its first call of this function until the end of the block."""
    original, reached, released = getattr(folding, function), threading.Event(), threading.Event()

    def stop_once(*arguments: Any, **options: Any) -> Any:
        if not reached.is_set():
            reached.set()
            assert released.wait(PATIENCE)
        return original(*arguments, **options)

    monkeypatch.setattr(folding, function, stop_once)
    thread = run_in_thread(lambda: fold(environment))
    try:
        assert reached.wait(PATIENCE)
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '5s'")
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")
        released.set()
        thread.join(PATIENCE)


def test_a_second_worker_folds_what_the_first_has_not_locked(api, workspace, monkeypatch):
    environment = environment_of(workspace)
    monkeypatch.setattr(report_batch, "MAX_BATCH_REPORTS", 2)
    for _ in range(6):
        send(api, observation(response={"id": 1}))
    with first_worker_stopped_at(monkeypatch, "sum_reports", environment):
        assert fold_reports(environment) == 4
    assert operation_queries.visible_operations(environment).get().observations == 6


def test_another_environment_can_be_folded_during_a_merge(api, workspace, monkeypatch):
    send(api, observation(response={"id": 1}))
    send(api, observation(response={"id": 1}), environment="staging")
    with first_worker_stopped_at(monkeypatch, "merge_into_catalog", environment_of(workspace)):
        assert fold_reports(environment_of(workspace, "staging")) == 1


def test_a_merge_is_dated_after_the_merges_it_waited_for(api, workspace, monkeypatch):
    """So the versions of an operation are in order of time, even if an earlier batch is merged later."""
    environment = environment_of(workspace)
    monkeypatch.setattr(report_batch, "MAX_BATCH_REPORTS", 1)
    for value in (1, "x"):
        send(api, observation(response={"id": value}))
    with first_worker_stopped_at(monkeypatch, "lock_operations", environment):
        fold_reports(environment)
    earlier, later = OperationVersion.objects.order_by("number")
    assert earlier.at <= later.at


def test_the_sweep_leaves_an_environment_to_the_worker_that_folds_it(api, workspace, monkeypatch):
    environment = environment_of(workspace)
    monkeypatch.setattr(report_batch, "MAX_BATCH_REPORTS", 2)
    for _ in range(6):
        send(api, observation(response={"id": 1}))
    WitnessReport.objects.update(received_at=timezone.now() - 2 * tasks.LONGEST_WAIT)
    with first_worker_stopped_at(monkeypatch, "sum_reports", environment):
        tasks.sweep()
        assert inbox_queries.unfolded_reports().count() == 6
    assert inbox_queries.unfolded_reports().count() == 0


def is_waiting_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = ("
            "SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        return bool(cursor.fetchone()[0])


def test_a_small_batch_includes_reports_that_arrived_while_it_waited(api, workspace, monkeypatch):
    environment = environment_of(workspace)
    sizes: list[int] = []
    sum_reports = folding.sum_reports
    monkeypatch.setattr(folding, "sum_reports", lambda *batch: (sizes.append(len(batch[1])), sum_reports(*batch))[1])
    send(api, observation(response={"id": 1}))
    # The first worker folds only one batch, so that it cannot take the reports meant for the second worker.
    with first_worker_stopped_at(monkeypatch, "merge_into_catalog", environment, fold_batch):
        send(api, observation(response={"id": 1}))
        second = run_in_thread(lambda: fold_reports(environment))
        deadline = time.monotonic() + PATIENCE
        while not is_waiting_for_a_lock():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        send(api, observation(response={"id": 1}))
    second.join(PATIENCE)
    assert sizes == [1, 2]


def test_a_dead_letter_and_the_merge_of_another_worker_do_not_wait_for_each_other(api, workspace, monkeypatch):
    environment = environment_of(workspace)
    monkeypatch.setattr(report_batch, "MAX_BATCH_REPORTS", 2)
    for _ in range(3):
        send(api, observation(response={"id": 1}))
    WitnessReport.objects.update(received_at=timezone.now())  # all in one quarter hour
    broken, sound, later = WitnessReport.objects.order_by("id")
    WitnessReport.objects.filter(pk=broken.pk).update(sums={"not": "a list"})
    with transaction.atomic():
        lock_operations(environment)
        other_worker = run_in_thread(lambda: fold_batch(environment))
        deadline = time.monotonic() + PATIENCE
        while not is_waiting_for_a_lock():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        record_activity(environment, [later.pk])  # of the same reporter
    other_worker.join(PATIENCE)
    assert WitnessReport.objects.get(dead_lettered_at__isnull=False) == broken
    assert WitnessReport.objects.get(folded_at__isnull=False) == sound


def list_everything(environment: Environment) -> list[Any]:
    """Return all that the catalog stores, except row ids, times of folds, and counts that depend on the batches."""
    own = {"environment": environment}
    operations = Operation.objects.filter(**own).order_by("method", "key")
    facts = operations.values_list("method", "key", "statuses", "names", "begun", "observations", "document", "version")
    parts = OperationPart.objects.filter(operation__environment=environment)
    evidence = parts.order_by("operation__key", "part", "status").values_list("operation__key", "status", "evidence")
    versions = OperationVersion.objects.filter(operation__environment=environment).order_by("operation__key", "number")
    drift = Drift.objects.filter(**own).order_by("operation__key", "version", "pointer", "kind")
    excess = ExcessOperation.objects.filter(**own).order_by("key")
    return [
        *map(str, facts),
        *evidence,
        *versions.values_list("operation__key", "number", "outline"),
        *drift.values_list("operation__key", "version", "pointer", "kind", "before"),
        *excess.values_list("key", "observations"),
    ]


def send_two_rounds(api: Any, chance: random.Random, environment: str, fold: Callable[[], object]) -> None:
    """Send two rounds of reports. The first sets the shapes, the second changes the shape of each operation once.

    Therefore versions and drift do not depend on the order in which the reports of a round are folded.
    """
    for value in ({"id": 1, "tags": ["a"]}, {"id": "x", "tags": ["a"]}):
        for _ in range(20):
            chosen = chance.sample(NAMES, 4)
            observations = (
                observation(path=f"/{name}/{{id}}", response=value, count=chance.randint(1, 9), lastSeenAt=AT)
                for name in chosen
            )
            send(api, *observations, environment=environment)
        fold()


def fold_with_kills(environment: Environment, chance: random.Random, kills: list[str]) -> None:
    """Fold until nothing is left. At random statements the worker is killed or its connection breaks."""

    def fail_sometimes(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        result = execute(sql, params, many, context)
        if chance.random() < 0.015:
            kills.append(sql)
            raise KilledError
        if chance.random() < 0.01:
            kills.append(sql)
            connection.connection.pgconn.finish()
        return result

    while inbox_queries.unfolded_reports().filter(environment=environment).exists():
        try:
            with connection.execute_wrapper(fail_sometimes):
                fold_reports(environment)
        except (KilledError, DatabaseError):
            connection.close()


@pytest.mark.parametrize("seed", range(3))
def test_workers_killed_at_any_statement_count_every_report_once(api, workspace, monkeypatch, settings, seed):
    monkeypatch.setattr(report_batch, "MAX_BATCH_REPORTS", 3)
    calm, wild = environment_of(workspace), environment_of(workspace, "staging")
    send_two_rounds(api, random.Random(seed), calm.name, lambda: fold_reports(calm))
    kills: list[str] = []
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            fold_with_kills(wild, random.Random(f"{seed} {number}"), kills)
        except BaseException as error:  # checked below: a failure in a thread must fail the test
            failures.append(error)

    def fold_in_threads() -> None:
        for thread in [run_in_thread(partial(work, number)) for number in range(3)]:
            thread.join()

    send_two_rounds(api, random.Random(seed), wild.name, fold_in_threads)
    assert failures == []
    assert kills
    assert not WitnessReport.objects.filter(dead_lettered_at__isnull=False).exists()
    assert list_everything(wild) == list_everything(calm)


def test_workers_at_the_limit_of_operations_neither_lose_nor_repeat_a_count(api, workspace, monkeypatch, settings):
    settings.MAX_OPERATIONS = 4
    monkeypatch.setattr(report_batch, "MAX_BATCH_REPORTS", 2)
    environment = environment_of(workspace)
    for number in range(30):
        send(api, observation(path=f"/{NAMES[number % len(NAMES)]}", response={"id": 1}, count=number + 1))
    for thread in [run_in_thread(lambda: fold_reports(environment)) for _ in range(3)]:
        thread.join()
    operations = operation_queries.visible_operations(environment)
    excess = ExcessOperation.objects.filter(environment=environment)
    counts = [*operations.values_list("observations", flat=True), *excess.values_list("observations", flat=True)]
    assert (operations.count(), excess.count(), sum(counts)) == (4, 4, sum(range(1, 31)))


def test_one_broken_report_among_many_is_found_with_few_merges(api, workspace, monkeypatch):
    for _ in range(16):
        send(api, observation(response={"id": 1}))
    victim = WitnessReport.objects.order_by("id")[9]
    WitnessReport.objects.filter(pk=victim.pk).update(sums={"not": "a list"})
    attempts: list[int] = []
    sum_reports = folding.sum_reports
    monkeypatch.setattr(folding, "sum_reports", lambda *batch: (attempts.append(len(batch[1])), sum_reports(*batch))[1])
    fold_reports(environment_of(workspace))
    victim.refresh_from_db()
    assert victim.dead_lettered_at
    assert operation_queries.visible_operations(environment_of(workspace)).get().observations == 15
    assert len(attempts) <= 9
