"""Show when an alert would have fired in the last 30 days."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.evaluation.find import FINDERS
from alerts.rules.happening import Happening, Measure, leave_out_known
from alerts.rules.thresholds import Thresholds
from alerts.rules.words import describe_happening
from workspaces.models import Environment

DAYS = 30


@dataclass(frozen=True)
class PreviewRow:
    """One firing that the alert would have had.

    title: the title that its message would have had.
    """

    happening: Happening
    title: str

    @property
    def length(self) -> timedelta | None:
        """Return how long the happening lasted; None while it lasts or if it has no duration."""
        until = self.happening.until
        return until - self.happening.at if until else None


@dataclass(frozen=True)
class Preview:
    """The firings of the last 30 days, the latest first, and what the rule compared, from the same reading."""

    rows: Sequence[PreviewRow]
    measures: Iterable[Measure]
    since: datetime
    until: datetime


def preview(environment: Environment, kind: str, thresholds: Thresholds, *, now: datetime) -> Preview:
    """Return when the alert would have fired in the last 30 days, and what it compared."""
    since = now - timedelta(days=DAYS)
    findings = FINDERS[kind](environment, thresholds, since, now)
    rows = [
        PreviewRow(happening, describe_happening(kind, happening.facts, environment.name))
        for happening in leave_out_known(findings.happenings, [])
    ]
    return Preview(rows[::-1], findings.measures, since, now)
