"""The outcomes that a move changes: lock and read them, and write them back with their tallies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from outcomes.broken_joins.moves import sql
from outcomes.tallies.adjust_to_moves_and_deletions import TallyChange, adjust_tallies
from workspaces.models import Environment


@dataclass(frozen=True)
class ReportSummary:
    """The number of reports of an outcome, the times of the first and the last, and the API key of the first."""

    reports: int
    first_at: datetime
    last_at: datetime
    reported_by: int | None = None


def merge_summaries(summaries: Sequence[ReportSummary]) -> ReportSummary:
    """Sum several summaries, in any order; if two begin at the same time, the lower API key counts as the first."""
    first = min(summaries, key=lambda summary: (summary.first_at, summary.reported_by or 0))
    last_at = max(summary.last_at for summary in summaries)
    return ReportSummary(sum(summary.reports for summary in summaries), first.first_at, last_at, first.reported_by)


class OutcomeRef(NamedTuple):
    """The reference to an outcome: the row id of its conversation, and its key."""

    conversation: int
    key: str


@dataclass(frozen=True)
class StoredOutcome:
    """One outcome as it is stored, or an empty row for an outcome that was never reported (`total.reports` is 0).

    total: the summary of all its reports.
    own: the summary of the reports to this environment itself.
    moved_in: the number of reports from other environments.
    """

    ref: OutcomeRef
    started_at: datetime | None
    registered_at: datetime | None
    total: ReportSummary
    own: ReportSummary | None
    moved_in: int
    healed_at: datetime | None

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> StoredOutcome:
        """Build an outcome from a row of LOCK_OUTCOMES."""
        conversation, key, started_at, registered_at, reports, first_at, last_at, reported_by, moved_in = row[:9]
        own_first_at, own_last_at, own_reported_by, healed_at = row[9:]
        total = ReportSummary(reports, first_at, last_at, reported_by)
        if not moved_in:
            own = total if reports else None
        elif own_first_at:
            own = ReportSummary(reports - moved_in, own_first_at, own_last_at, own_reported_by)
        else:
            own = None
        return cls(OutcomeRef(conversation, key), started_at, registered_at, total, own, moved_in, healed_at)

    @property
    def moved_summaries(self) -> Sequence[ReportSummary]:
        """Return one summary of the reports that were moved in until now; no summary if there are none.

        It has the first and last time and the API key of all reports, because only the number of moved reports is
        stored.
        """
        if not self.moved_in:
            return ()
        return [ReportSummary(self.moved_in, self.total.first_at, self.total.last_at, self.total.reported_by)]


@dataclass(frozen=True)
class OutcomeUpdate:
    """The new state of an outcome: its own reports and those moved in. An outcome without either is deleted."""

    outcome: StoredOutcome
    own: ReportSummary | None
    moved_summaries: Sequence[ReportSummary]
    healed_at: datetime | None

    @property
    def summaries(self) -> Sequence[ReportSummary]:
        return [*([self.own] if self.own else []), *self.moved_summaries]

    def as_row(self) -> tuple[Any, ...]:
        """Return the values of UPDATE_PARAMETERS."""
        total, own = merge_summaries(self.summaries), self.own if self.moved_summaries else None
        own_columns = (own.first_at, own.last_at, own.reported_by) if own else (None, None, None)
        columns = (*self.outcome.ref, total.reports, total.first_at, total.last_at, total.reported_by)
        reports_moved_in = sum(summary.reports for summary in self.moved_summaries)
        return (*columns, reports_moved_in, *own_columns, self.healed_at)

    def tally_changes(self) -> Iterator[TallyChange]:
        outcome = self.outcome
        if outcome.total.reports:
            yield from count_outcome(outcome.ref.key, outcome.total, outcome.started_at, sign=-1)
        if self.summaries:
            yield from count_outcome(outcome.ref.key, merge_summaries(self.summaries), outcome.started_at, sign=1)


def count_outcome(key: str, summary: ReportSummary, started_at: datetime | None, *, sign: int) -> Iterator[TallyChange]:
    """Yield what one outcome adds to tallies (sign 1) or takes from them (-1).

    started_at: when its conversation started; None for a broken join.
    """
    reports = sign * summary.reports
    if started_at is None:
        yield TallyChange(key, summary.first_at, broken=sign, reports=reports, reported_by=summary.reported_by)
    else:
        yield TallyChange(key, summary.first_at, outcomes=sign, reports=reports, reported_by=summary.reported_by)
        yield TallyChange(key, started_at, reached=sign)


def lock_conversations(environment: Environment, conversations: Sequence[int]) -> None:
    parameters: dict[str, Any] = {"environment": environment.pk, "conversations": list(conversations)}
    with connection.cursor() as cursor:
        cursor.execute(sql.LOCK_CONVERSATIONS, parameters)


def delete_outcomes(environment: Environment, refs: Sequence[OutcomeRef]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql.DELETE_OUTCOMES, {"environment": environment.pk, **ref_columns(refs)})


def ref_columns(refs: Sequence[OutcomeRef]) -> dict[str, Any]:
    """Return references as the parameters `conversations` and `keys` of a statement."""
    return {"conversations": [ref.conversation for ref in refs], "keys": [ref.key for ref in refs]}


def lock_outcomes(
    environment: Environment, refs: Sequence[OutcomeRef], *, now: datetime, create_missing: bool = False
) -> Sequence[StoredOutcome]:
    """Lock these outcomes and read them.

    create_missing: whether to insert an empty row for an outcome that does not exist.
    """
    parameters: dict[str, Any] = {"environment": environment.pk, **ref_columns(refs), "now": now}
    with connection.cursor() as cursor:
        if create_missing:
            cursor.execute(sql.CREATE_MISSING, parameters)
        cursor.execute(sql.LOCK_OUTCOMES, parameters)
        return [StoredOutcome.from_row(row) for row in cursor.fetchall()]


def write_updates(
    environment: Environment, updates: Sequence[OutcomeUpdate], other_changes: Sequence[TallyChange] = ()
) -> None:
    """Write the outcomes, then the tallies.

    other_changes: tally changes in addition to those of the updates.
    """
    rows = [update.as_row() for update in updates if update.summaries]
    columns = map(list, zip(*rows, strict=True)) if rows else [[] for _ in sql.UPDATE_PARAMETERS]
    parameters: dict[str, Any] = dict(zip(sql.UPDATE_PARAMETERS, columns, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(sql.UPDATE_OUTCOMES, {"environment": environment.pk, **parameters})
    delete_outcomes(environment, [update.outcome.ref for update in updates if not update.summaries])
    changes = [*other_changes, *(change for update in updates for change in update.tally_changes())]
    if changes:
        adjust_tallies(environment, changes)
