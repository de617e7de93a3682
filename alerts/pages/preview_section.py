"""The preview of an alert's form: when it would have fired in the last 30 days, and what its data lack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone

from alerts.evaluation.find_happenings import find_last_quarter
from alerts.evaluation.preview import PREVIEW_LENGTH, Preview, preview, suggest_minimum
from alerts.models import Alert
from alerts.pages.forms import JUMPS, AlertForm
from alerts.pages.preview_chart import build_preview_chart
from alerts.rules.alert_descriptions import describe_alert, describe_share
from alerts.rules.new_reasons import NEW_AGAIN_AFTER
from catalog.operation_queries import find_observed_span
from intents.rejections.queries import find_first_data as find_first_verification
from outcomes.tallies.series import find_first_data as find_first_outcome
from workspaces.models import Environment

PREVIEW_ROWS = 20


def build_preview_section(form: AlertForm) -> Mapping[str, Any]:
    """Return the variables of the template for the preview of a form; the form may be incomplete."""
    if not form.can_preview:
        empty = {"preview": None, "chart": None, "preview_words": "", "preview_environment": "", "more": 0}
        return {**empty, "preview_first_data": None, "lower": None, "missing_data": ""}
    kind, thresholds = form.cleaned_data["kind"], form.thresholds
    now = timezone.now()
    firings = preview(form.environment_row, kind, thresholds, now=now)
    zone = ZoneInfo(timezone.get_current_timezone_name())  # in which the page shows times
    rows = firings.rows
    return {
        "preview": rows,
        "preview_rows": rows[:PREVIEW_ROWS],
        "more": max(len(rows) - PREVIEW_ROWS, 0),
        "preview_words": describe_alert(kind, thresholds),
        "preview_environment": form.environment_row.name,
        "chart": build_preview_chart(firings, kind, thresholds, zone),
        "needed_share": describe_share(thresholds, "of all") if kind in JUMPS else "",
        "heals": kind == Alert.BROKEN_JOINS,
        "learns": kind == Alert.SILENT,
        "is_about_new": kind == Alert.NEW_REASON,
        "judged_until": find_last_quarter(now) if kind in JUMPS else None,
        "preview_first_data": _find_late_start(form.environment_row, kind, now=now),
        "missing_data": _name_missing_data(form.environment_row, kind, firings),
        **_suggest_lower(form, firings, now=now),
    }


def _suggest_lower(form: AlertForm, firings: Preview, *, now: datetime) -> Mapping[str, Any]:
    """Return a lower minimum with which the alert would have fired, and the query of the form with it."""
    if firings.rows or not form.minimum_field:
        return {"lower": None}
    lower = suggest_minimum(form.environment_row, form.cleaned_data["kind"], form.thresholds, firings, now=now)
    query = f"?{form.write_query({form.minimum_field: lower.minimum})}" if lower else ""
    return {"lower": lower, "lower_query": query}


def _find_late_start(environment: Environment, kind: str, *, now: datetime) -> datetime | None:
    """Return when the data of an alert began, if that was too late for the whole preview; None otherwise.

    The preview uses the data of the last PREVIEW_LENGTH, or of the time in MEMORY for some kinds.
    """
    first = FIRST_DATA[kind](environment)
    return first if first and first > now - MEMORY.get(kind, PREVIEW_LENGTH) else None


def _name_missing_data(environment: Environment, kind: str, firings: Preview) -> str:
    """Return which data the alert needs but never got, in the singular; "" if there was any."""
    is_missing = not any(measure.value for measure in firings.measures) and FIRST_DATA[kind](environment) is None
    return DATA_WORDS[kind] if is_missing else ""


def _find_first_observation(environment: Environment) -> datetime | None:
    span = find_observed_span(environment)
    return span[0] if span else None


MEMORY = {Alert.NEW_REASON: PREVIEW_LENGTH + NEW_AGAIN_AFTER}
FIRST_DATA: Mapping[str, Callable[[Environment], datetime | None]] = {
    Alert.DRIFT: _find_first_observation,
    Alert.SILENT: _find_first_observation,
    Alert.NEW_REASON: find_first_verification,
    Alert.REJECTIONS: find_first_verification,
    Alert.BROKEN_JOINS: find_first_outcome,
}
# What an alert watches, in the singular
DATA_WORDS: Mapping[str, str] = {
    Alert.DRIFT: "reporter",
    Alert.SILENT: "reporter",
    Alert.NEW_REASON: "verification",
    Alert.REJECTIONS: "verification",
    Alert.BROKEN_JOINS: "outcome",
}
