"""Whether a preview lacks data: because the data began too late for it, or because none ever came."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from alerts.evaluation.preview import PREVIEW_LENGTH, Preview
from alerts.models import Alert
from alerts.rules.new_reasons import NEW_AGAIN_AFTER
from catalog.operation_queries import find_observed_span
from intents.rejections.tallies.first_and_last_verifications import find_first_data as find_first_verification
from outcomes.tallies.first_and_last_data import find_first_data as find_first_outcome
from workspaces.models import Environment


def find_late_start(environment: Environment, kind: str, *, now: datetime) -> datetime | None:
    """Return when the data of an alert began, if that was too late for the whole preview; None otherwise."""
    first = FIRST_DATA[kind](environment)
    return first if first and first > now - DATA_LENGTHS.get(kind, PREVIEW_LENGTH) else None


def name_missing_data(environment: Environment, kind: str, preview: Preview) -> str:
    """Return the singular of what the alert watches, if nothing of it was ever reported; "" otherwise."""
    is_missing = not any(measure.value for measure in preview.measures) and FIRST_DATA[kind](environment) is None
    return WATCHED_THINGS[kind] if is_missing else ""


def _find_first_observation(environment: Environment) -> datetime | None:
    span = find_observed_span(environment)
    return span[0] if span else None


# How far back the data of a preview reach, if that is further than PREVIEW_LENGTH
DATA_LENGTHS = {Alert.NEW_REASON: PREVIEW_LENGTH + NEW_AGAIN_AFTER}
FIRST_DATA: Mapping[str, Callable[[Environment], datetime | None]] = {
    Alert.DRIFT: _find_first_observation,
    Alert.SILENT: _find_first_observation,
    Alert.NEW_REASON: find_first_verification,
    Alert.REJECTIONS: find_first_verification,
    Alert.BROKEN_JOINS: find_first_outcome,
}
# What an alert watches, in the singular
WATCHED_THINGS: Mapping[str, str] = {
    Alert.DRIFT: "reporter",
    Alert.SILENT: "reporter",
    Alert.NEW_REASON: "verification",
    Alert.REJECTIONS: "verification",
    Alert.BROKEN_JOINS: "outcome",
}
