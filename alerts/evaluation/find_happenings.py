"""Find the happenings that fire an alert in a span of time. Evaluation and preview both call this."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from alerts.models import Alert
from alerts.rules.breaking_drift import BreakingChange, group_breaking_changes
from alerts.rules.happenings import Happening, Measure
from alerts.rules.new_reasons import HISTORY, find_new_reasons, measure_new_reasons
from alerts.rules.silences import choose_activity, find_silences, measure_silences
from alerts.rules.spikes import Share, choose_history, find_spikes, measure_cases
from alerts.rules.thresholds import Thresholds
from catalog.drift.new_changes import leave_out_once_muted
from catalog.drift.queries import list_breaking_drift
from catalog.reporter_activity import read_activity
from intents.rejections.filters import is_rejection
from intents.rejections.tallies.quarters import list_last_times
from intents.rejections.tallies.quarters import read_quarters as read_verifications
from outcomes.tallies.quarters import read_quarters as read_outcomes
from wire.time.period import Period, floor_to_quarter
from workspaces.models import Environment

LOOKBACK = timedelta(days=1)  # how late data may arrive: what happened before fires no alert
GRACE = timedelta(minutes=2)  # wait after a quarter hour, because its last reports arrive later


@dataclass(frozen=True)
class Findings:
    """What a rule finds in a span of time, read from the database once.

    measures: the values that it compares. Except for drift, they are computed only when read.
    """

    happenings: Iterable[Happening]
    measures: Iterable[Measure]


Find = Callable[[Environment, Thresholds, datetime, datetime], Findings]


def find_happenings(
    environment: Environment, kind: str, thresholds: Thresholds, *, since: datetime, until: datetime
) -> list[Happening]:
    """Return the happenings that fire an alert of this kind in [since, until], by time.

    until: no later than now.
    """
    happenings = FINDERS[kind](environment, thresholds, since, until).happenings
    return sorted(happenings, key=lambda happening: (happening.at, happening.subject))


def find_last_quarter(moment: datetime) -> datetime:
    """Return the end of the last quarter hour whose share of cases is judged at this moment."""
    return floor_to_quarter(moment - GRACE)


def find_drift(environment: Environment, _: Thresholds, since: datetime, until: datetime) -> Findings:
    """Find breaking changes that are not muted, and were not when they were detected."""
    period = Period(since, until + timedelta.resolution, ZoneInfo("UTC"))
    drift = list_breaking_drift(environment, period)
    changes = (
        BreakingChange(
            operation_id=row.operation_id,
            version=row.version,
            at=row.at,
            operation=str(row.operation),
            part=row.part,
            pointer=row.pointer,
            words=row.words,
            breaks=row.breaks,
        )
        for row in leave_out_once_muted(environment, drift).order_by("at", "id").iterator(chunk_size=1000)
    )
    happenings = list(group_breaking_changes(changes))
    return Findings(happenings, [Measure(happening.at, happening.facts["changeCount"]) for happening in happenings])


def find_reasons(environment: Environment, thresholds: Thresholds, since: datetime, until: datetime) -> Findings:
    start = floor_to_quarter(since)
    quarters = read_verifications(environment, since=start - HISTORY, until=until)
    rejections = [row for row in quarters if is_rejection(row[1])]
    last_times = list_last_times(environment, start)
    happenings = (
        happening
        for happening in find_new_reasons(rejections, thresholds, since=start, until=until)
        if happening.at > start or last_times[happening.subject] >= since  # its quarter hour may have begun before
    )
    return Findings(
        happenings,
        measure_new_reasons(rejections, thresholds, since=start, until=until),
    )


def find_rejection_spikes(
    environment: Environment, thresholds: Thresholds, since: datetime, until: datetime
) -> Findings:
    end = find_last_quarter(until)
    quarters: dict[datetime, Share] = {}
    first = floor_to_quarter(since) - choose_history(thresholds)
    for start, result, count in read_verifications(environment, since=first, until=end):
        cases, total = quarters.get(start, Share(0, 0))
        quarters[start] = Share(cases + count * is_rejection(result), total + count)
    return _find_jumps(quarters, thresholds, since, end)


def find_broken_join_spikes(
    environment: Environment, thresholds: Thresholds, since: datetime, until: datetime
) -> Findings:
    end = find_last_quarter(until)
    first = floor_to_quarter(since) - choose_history(thresholds)
    rows = read_outcomes(environment, since=first, until=end)
    quarters = {start: Share(broken_joins, outcomes) for start, broken_joins, outcomes in rows}
    return _find_jumps(quarters, thresholds, since, end)


def _find_jumps(
    quarters: Mapping[datetime, Share], thresholds: Thresholds, since: datetime, until: datetime
) -> Findings:
    return Findings(
        find_spikes(quarters, thresholds, since=since, until=until),
        measure_cases(quarters, thresholds, since=since, until=until),
    )


def find_silent_reporters(
    environment: Environment, thresholds: Thresholds, since: datetime, until: datetime
) -> Findings:
    if environment.archived_at:  # since then it refuses all reports
        until = min(until, environment.archived_at)
    end = until - GRACE
    activity = read_activity(environment, since=since - choose_activity(thresholds), until=until)
    return Findings(
        find_silences(activity, thresholds, since=since, until=end),
        measure_silences(activity, thresholds, since=since, until=end),
    )


FINDERS: Mapping[str, Find] = {
    Alert.DRIFT: find_drift,
    Alert.NEW_REASON: find_reasons,
    Alert.REJECTIONS: find_rejection_spikes,
    Alert.BROKEN_JOINS: find_broken_join_spikes,
    Alert.SILENT: find_silent_reporters,
}
