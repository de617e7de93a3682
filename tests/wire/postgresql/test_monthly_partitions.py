"""Partitions of a log by month: created ahead, filled from the default partition, dropped when nobody keeps a row."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from django.db import connection

from intents.models import Rejection
from intents.reports.prune import REJECTIONS
from tests.at_once import run_twice_at_once
from wire.postgresql.monthly_partitions import Month, create_coming_months, drop_month, iterate_utc_months, list_months

YEAR_2040 = datetime(2040, 11, 15, tzinfo=UTC)
MONTHS = [Month(2040, 11), Month(2040, 12), Month(2041, 1), Month(2041, 2)]


def reject(environment, at: datetime) -> None:
    Rejection.objects.create(
        environment=environment, occurred_at=at, reason="expired", version=2, operation="GET /orders", count=1
    )


def list_partitions() -> list[str]:
    """Return the partition of each rejection, in the order of their times."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tableoid::regclass::text FROM intents_rejection ORDER BY occurred_at")
        return [name.removeprefix("intents_rejection_") for (name,) in cursor.fetchall()]


def test_months_follow_one_another_across_years():
    assert list(iterate_utc_months(Month(2040, 11), Month(2041, 2))) == MONTHS
    assert (Month(2040, 12).end, Month(2040, 12).suffix) == (datetime(2041, 1, 1, tzinfo=UTC), "y2040m12")
    assert Month.at(datetime.fromisoformat("2041-01-01T02:00+05:45")) == Month(2040, 12)


def test_coming_months_are_made_once_and_take_their_rows_out_of_the_default_partition(production):
    for day in (-20, 0, 20, 200):
        reject(production, YEAR_2040 + timedelta(days=day))
    assert list_partitions() == ["default"] * 4
    assert create_coming_months(REJECTIONS, now=YEAR_2040) == MONTHS
    assert create_coming_months(REJECTIONS, now=YEAR_2040) == []
    assert set(MONTHS) <= set(list_months(REJECTIONS))
    assert list_partitions() == ["default", "y2040m11", "y2040m12", "default"]
    reject(production, YEAR_2040 + timedelta(days=60))
    assert "y2041m01" in list_partitions()


def test_a_month_is_dropped_only_if_no_other_environment_has_rows_in_it(production, staging):
    create_coming_months(REJECTIONS, now=YEAR_2040)
    reject(production, YEAR_2040)
    reject(staging, YEAR_2040)
    reject(staging, YEAR_2040 + timedelta(days=30))
    connection.check_constraints()  # a table cannot be dropped while checks of its rows are deferred
    assert drop_month(REJECTIONS, MONTHS[0], [production.pk]) is None
    assert drop_month(REJECTIONS, MONTHS[0], [production.pk, staging.pk]) == 2
    assert drop_month(REJECTIONS, MONTHS[2], []) == 0
    assert list_partitions() == ["y2040m12"]
    assert not {MONTHS[0], MONTHS[2]} & set(list_months(REJECTIONS))
    reject(production, YEAR_2040)
    assert list_partitions() == ["default", "y2040m12"], "late rows still fit into the default partition"


@pytest.mark.django_db(transaction=True)
def test_a_month_in_use_is_dropped_next_time(production):
    create_coming_months(REJECTIONS, now=YEAR_2040)
    has_written, may_end = threading.Event(), threading.Event()

    def write() -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("BEGIN")
                reject(production, YEAR_2040)
                has_written.set()
                may_end.wait(30)
                cursor.execute("COMMIT")
        finally:
            connection.close()

    writer = threading.Thread(target=write)
    writer.start()
    assert has_written.wait(30)
    assert drop_month(REJECTIONS, MONTHS[0], [production.pk]) is None
    may_end.set()
    writer.join(30)
    assert drop_month(REJECTIONS, MONTHS[0], [production.pk]) == 1
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE intents_rejection_y2040m12, intents_rejection_y2041m01, intents_rejection_y2041m02")


@pytest.mark.django_db(transaction=True)
def test_two_workers_create_and_drop_the_same_months_without_an_error(production):
    results = run_twice_at_once(lambda: tuple(create_coming_months(REJECTIONS, now=YEAR_2040)))
    assert sorted(sum(results, ())) == MONTHS
    reject(production, YEAR_2040)
    for month in MONTHS:
        results = run_twice_at_once(partial(drop_month, REJECTIONS, month, [production.pk]))
        assert sorted(results, key=str) == [1 if month == MONTHS[0] else 0, None]
