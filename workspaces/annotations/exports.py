"""The annotations of a page's period, and the phases between them, as tables of its downloads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from wire.table_exports import Table
from wire.time.period import Period
from workspaces.annotations.phase_comparison import PhaseChange, rate_of
from workspaces.annotations.queries import list_annotations_of_period
from workspaces.models import Environment

COLUMNS = ("at", "text", "url", "environment", "createdBy")


def build_annotations_table(environment: Environment, period: Period) -> Table:
    """Return the table `annotations`, the latest first; `environment` is null for an annotation of all environments."""
    return Table("annotations", COLUMNS, lambda: _list_annotation_rows(environment, period))


def _list_annotation_rows(environment: Environment, period: Period) -> Iterator[Sequence[Any]]:
    for row in list_annotations_of_period(environment, period).iterator():
        name = row.environment.name if row.environment else None
        yield row.at, row.text, row.url or None, name, row.created_by


def name_phase_columns(total: str, count: str, rate: str) -> tuple[str, ...]:
    """Return the columns of `list_phase_cells`, with a page's names for the numbers of its phases."""
    return ("startsAt", "endsAt", "annotations", total, count, rate, f"{rate}Points", "mayBeChance")


def list_phase_cells(change: PhaseChange) -> tuple[Any, ...]:
    """Return the cells of a phase. Those that compare it with the phase before are null if there is nothing to compare.

    A phase that has yet to begin has no end and no numbers.
    """
    phase, points = change.phase, change.points
    if phase.is_ahead:
        return (phase.start, None, list(phase.texts), *(None,) * 5)
    rate = round(rate_of(phase), 4) if phase.total else None
    comparison = (None, None) if points is None else (round(points, 2), change.is_within_chance)
    return (phase.start, phase.end, list(phase.texts), phase.total, phase.count, rate, *comparison)


def list_pending_phase_cells(change: PhaseChange) -> tuple[Any, ...]:
    """Return the cells of a phase, then the share of its count that may still change."""
    return (*list_phase_cells(change), None if change.phase.is_ahead else round(change.pending, 4))
