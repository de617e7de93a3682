"""Logs partitioned by month of UTC: create partitions for coming months, and drop those that no owner needs any more.

Rows that belong to no month's partition go to the default partition, so that an insert never fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import OperationalError, ProgrammingError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from wire.postgresql.sqlstates import is_lock_timeout, is_missing_table

MONTHS_AHEAD = 3
SELECT_PARTITIONS = """
SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = %s::regclass ORDER BY 1
"""
SELECT_OWNERS = """
WITH RECURSIVE stored AS (
  (SELECT {owner} AS owner FROM {partition} ORDER BY {owner} LIMIT 1)
  UNION ALL
  SELECT (SELECT {owner} FROM {partition} WHERE {owner} > stored.owner ORDER BY {owner} LIMIT 1)
  FROM stored WHERE owner IS NOT NULL
)
SELECT owner FROM stored WHERE owner IS NOT NULL
"""


@dataclass(frozen=True)
class MonthlyLog:
    """A table partitioned by month.

    time, owner: its columns for the time and for the environment or workspace.
    keep_condition: a condition in SQL; rows that meet it stay, however old.
    """

    table: str
    time: str
    owner: str
    keep_condition: str = ""


@dataclass(frozen=True, order=True)
class Month:
    """A calendar month of UTC."""

    year: int
    month: int

    @classmethod
    def at(cls, moment: datetime) -> Month:
        utc = moment.astimezone(UTC)
        return cls(utc.year, utc.month)

    @property
    def start(self) -> datetime:
        return datetime(self.year, self.month, 1, tzinfo=UTC)

    @property
    def following(self) -> Month:
        return Month(self.year + self.month // 12, self.month % 12 + 1)

    @property
    def end(self) -> datetime:
        return self.following.start

    @property
    def suffix(self) -> str:
        """Return the end of a partition's name."""
        return f"y{self.year:04}m{self.month:02}"

    @property
    def bounds(self) -> str:
        return f"FOR VALUES FROM ('{self.start.isoformat()}') TO ('{self.end.isoformat()}')"


def iterate_utc_months(first: Month, last: Month) -> Iterator[Month]:
    month = first
    while month <= last:
        yield month
        month = month.following


def list_coming_months(now: datetime) -> Sequence[Month]:
    """Return this month and the MONTHS_AHEAD months after it."""
    months = [Month.at(now)]
    for _ in range(MONTHS_AHEAD):
        months.append(months[-1].following)
    return months


def list_months(log: MonthlyLog, database: BaseDatabaseWrapper | None = None) -> Sequence[Month]:
    """Return the months that have a partition, the oldest first.

    database: the database to read, by default the hub's.
    """
    with (database or connection).cursor() as cursor:
        cursor.execute(SELECT_PARTITIONS, [log.table])
        names = [name for (name,) in cursor.fetchall()]
    matches = (re.search(r"_y(\d{4})m(\d{2})$", name) for name in names)
    return sorted(Month(int(match[1]), int(match[2])) for match in matches if match)


def create_coming_months(log: MonthlyLog, *, now: datetime) -> Sequence[Month]:
    """Create the missing partitions of this month and of the coming ones; return their months."""
    return create_months(log, list_coming_months(now))


def create_months(log: MonthlyLog, months: Iterable[Month]) -> Sequence[Month]:
    """Create the partitions that are missing; return their months.

    If the default partition cannot be locked within 2 seconds, the month is left for the next time. Its rows are in the
    default partition until then.
    """
    existing = set(list_months(log))
    return [month for month in months if month not in existing and _create_month(log, month)]


def _create_month(log: MonthlyLog, month: Month) -> bool:
    table, partition = log.table, f"{log.table}_{month.suffix}"
    parameters: Mapping[str, datetime] = {"start": month.start, "end": month.end}
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '2s'")
            cursor.execute(f"LOCK TABLE {table}_default IN ACCESS EXCLUSIVE MODE")
            if month in list_months(log):  # another process created it meanwhile
                return False
            cursor.execute(
                f"CREATE TABLE {partition} (LIKE {table} INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING CONSTRAINTS)"
            )
            cursor.execute(
                f"WITH early AS (DELETE FROM {table}_default WHERE {log.time} >= %(start)s AND {log.time} < %(end)s"
                f" RETURNING *) INSERT INTO {partition} SELECT * FROM early",
                parameters,
            )
            cursor.execute(f"ALTER TABLE {table} ATTACH PARTITION {partition} {month.bounds}")
    except OperationalError as error:
        if not is_lock_timeout(error):
            raise
        return False
    return True


def drop_month(log: MonthlyLog, month: Month, owners: Sequence[int | str]) -> int | None:
    """Drop the partition of a month if only these owners have rows in it, and no row meets the log's `keep_condition`.

    Return how many rows the partition had, or None if it stays.

    Writers to the log wait while its owners are looked up. If the log cannot be locked within a second, the partition
    is left for the next time. If another process drops it at the same time, return None.
    """
    try:
        return _drop_unneeded(log, month, owners)
    except OperationalError as error:
        if not is_lock_timeout(error):
            raise
    except ProgrammingError as error:
        if not is_missing_table(error):  # another process dropped it meanwhile
            raise
    return None


def _drop_unneeded(log: MonthlyLog, month: Month, owners: Sequence[int | str]) -> int | None:
    table, partition = log.table, f"{log.table}_{month.suffix}"
    if _is_needed(log, partition, owners):
        return None
    with connection.cursor() as cursor:  # in a transaction of its own: it locks the partition until its end
        cursor.execute(f"SELECT count(*) FROM {partition}")
        (rows,) = cursor.fetchone()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '1s'")
        cursor.execute(f"LOCK TABLE ONLY {table} IN ACCESS EXCLUSIVE MODE")
        if _is_needed(log, partition, owners):
            return None
        cursor.execute(f"DROP TABLE {partition}")
    return int(rows)


def _is_needed(log: MonthlyLog, partition: str, owners: Sequence[int | str]) -> bool:
    """Return whether a row belongs to another owner or meets `keep_condition`. Each owner costs one index look-up."""
    with connection.cursor() as cursor:
        cursor.execute(SELECT_OWNERS.format(owner=log.owner, partition=partition))
        other_owners = {owner for (owner,) in cursor.fetchall()} - set(owners)
        if other_owners or not log.keep_condition:
            return bool(other_owners)
        cursor.execute(f"SELECT EXISTS (SELECT FROM {partition} WHERE {log.keep_condition})")
        return bool(cursor.fetchone()[0])
