"""Show when an alert would have fired in the last 30 days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from alerts.evaluation.find_happenings import FINDERS
from alerts.rules.event_titles import describe_happening
from alerts.rules.happenings import Happening, Measure
from alerts.rules.known_happenings import leave_out_known
from alerts.rules.thresholds import Thresholds
from workspaces.models import Environment

PREVIEW_LENGTH = timedelta(days=30)
ROUND_NUMBERS = tuple(step * 10**power for power in range(8, -1, -1) for step in (5, 2, 1))
MAX_FIRINGS = 10  # in 30 days: people soon ignore an alert that fires more often
MAX_SUGGESTIONS = 5  # how many smaller minimums to try; each takes another preview


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
    """The firings of the last 30 days, the latest first.

    measures: the numbers that the rule compared in these days, whether or not it fired.
    """

    rows: Sequence[PreviewRow]
    measures: Sequence[Measure]
    since: datetime
    until: datetime


@dataclass(frozen=True)
class LowerMinimum:
    """A lower minimum number of cases, and how often the alert would have fired with it."""

    minimum: int
    firings: int


def preview(environment: Environment, kind: str, thresholds: Thresholds, *, now: datetime) -> Preview:
    """Return when the alert would have fired in the last 30 days, and what it compared."""
    since = now - PREVIEW_LENGTH
    findings = FINDERS[kind](environment, thresholds, since, now)
    rows = [
        PreviewRow(happening, describe_happening(kind, happening.facts, environment.name))
        for happening in leave_out_known(findings.happenings, [])
    ]
    return Preview(rows[::-1], list(findings.measures), since, now)


def suggest_minimum(
    environment: Environment, kind: str, thresholds: Thresholds, silent_preview: Preview, *, now: datetime
) -> LowerMinimum | None:
    """Return the highest round number below `thresholds.minimum` with which the alert would have fired.

    Try at most MAX_SUGGESTIONS numbers. None if none of them makes it fire, or if it fires more than MAX_FIRINGS times.

    silent_preview: the preview with `thresholds`, which has no firing.
    """
    highest = max((measure.value for measure in silent_preview.measures), default=0)
    candidates = [number for number in ROUND_NUMBERS if number < thresholds.minimum and number <= highest]
    for minimum in candidates[:MAX_SUGGESTIONS]:
        if rows := preview(environment, kind, replace(thresholds, minimum=minimum), now=now).rows:
            return LowerMinimum(minimum, len(rows)) if len(rows) <= MAX_FIRINGS else None
    return None
