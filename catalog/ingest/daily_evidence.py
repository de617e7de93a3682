"""Keep what was observed on each UTC day, besides the sums of all time, so that pages can show a period."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, NamedTuple

from affidavit import Evidence
from affidavit.operations import DailySums, Identity, OperationSum, part_key
from catalog.ingest.late_data import EpochCalendar
from catalog.models import OperationDay
from workspaces.models import Environment

EPOCH = date(1970, 1, 1)
DAY_IDENTITY = ("environment", "operation", "day", "epoch")


class DayKey(NamedTuple):
    """One operation on one day (since 1970-01-01 UTC), in one epoch."""

    identity: Identity
    day: int
    epoch: int

    @property
    def date(self) -> date:
        return EPOCH + timedelta(days=self.day)


@dataclass(frozen=True)
class DayState:
    """The stored evidence of one day, as JSON."""

    statuses: Mapping[str, int]
    evidence: Mapping[str, Any]


DayStates = Mapping[DayKey, DayState]


def sum_days(environment: Environment, daily: DailySums, calendars: Mapping[Identity, EpochCalendar]) -> DayStates:
    """Return the new state of each day: its stored evidence and that of `daily`. Nothing is stored or changed yet."""
    new_sums = {
        DayKey(identity, day, calendars[identity].epoch_on(day) if identity in calendars else 0): day_sum
        for day, sums in daily
        for identity, day_sum in sums
    }
    rows = _load_days(environment, new_sums)
    return {key: _add_to_state(rows.get(key), day_sum) for key, day_sum in new_sums.items()}


def save_days(environment: Environment, states: DayStates, row_ids: Mapping[Identity, int]) -> None:
    """Store the days of the operations in `row_ids`. Other operations did not fit into the catalog."""
    OperationDay.objects.bulk_create(
        [
            OperationDay(
                environment=environment,
                operation_id=row_ids[key.identity],
                day=key.date,
                epoch=key.epoch,
                observations=sum(state.statuses.values()),
                statuses=state.statuses,
                evidence=state.evidence,
            )
            for key, state in states.items()
            if key.identity in row_ids
        ],
        batch_size=100,
        update_conflicts=True,
        unique_fields=DAY_IDENTITY,
        update_fields=("observations", "statuses", "evidence"),
    )


def _load_days(environment: Environment, keys: Collection[DayKey]) -> dict[DayKey, OperationDay]:
    rows = OperationDay.objects.filter(
        environment=environment,
        day__in={key.date for key in keys},
        operation__method__in={key.identity.method for key in keys},
        operation__key__in={key.identity.key for key in keys},
    ).select_related("operation")
    columns = ("day", "epoch", "statuses", "evidence", "operation__method", "operation__key")
    return {DayKey(row.operation.identity, (row.day - EPOCH).days, row.epoch): row for row in rows.only(*columns)}


def _add_to_state(row: OperationDay | None, new_sum: OperationSum) -> DayState:
    statuses = Counter({int(status): count for status, count in row.statuses.items()} if row else {})
    statuses.update(new_sum.statuses)
    evidence: dict[str, Any] = dict(row.evidence) if row else {}
    for part, added_evidence in new_sum.evidence.items():
        key = part_key(part)
        if key in evidence:
            total = Evidence.from_state(evidence[key])
            total.add(added_evidence)
            evidence[key] = total.to_state()
        else:
            evidence[key] = added_evidence.to_state()
    return DayState({str(status): statuses[status] for status in sorted(statuses)}, evidence)
