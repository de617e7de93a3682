"""The variables of the template for the preview of an alert's form."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone

from alerts.evaluation.find_happenings import find_last_quarter
from alerts.evaluation.preview import Preview, preview, suggest_minimum
from alerts.models import Alert
from alerts.pages.forms import JUMPS, AlertForm
from alerts.pages.missing_data import find_late_start, name_missing_data
from alerts.pages.preview_chart import build_preview_chart
from alerts.rules.alert_descriptions import describe_alert, describe_share

PREVIEW_ROWS = 20


def build_preview_section(form: AlertForm) -> Mapping[str, Any]:
    """Return the variables of the template for the preview of a form; the form may be incomplete."""
    if not form.can_preview:
        empty = {"preview": None, "chart": None, "preview_words": "", "preview_environment": "", "more": 0}
        return {**empty, "preview_first_data": None, "lower": None, "missing_data": ""}
    kind, thresholds = form.cleaned_data["kind"], form.thresholds
    now = timezone.now()
    firings = preview(form.chosen_environment, kind, thresholds, now=now)
    zone = ZoneInfo(timezone.get_current_timezone_name())  # in which the page shows times
    rows = firings.rows
    return {
        "preview": rows,
        "preview_rows": rows[:PREVIEW_ROWS],
        "more": max(len(rows) - PREVIEW_ROWS, 0),
        "preview_words": describe_alert(kind, thresholds),
        "preview_environment": form.chosen_environment.name,
        "chart": build_preview_chart(firings, kind, thresholds, zone),
        "needed_share": describe_share(thresholds, "of all") if kind in JUMPS else "",
        "heals": kind == Alert.BROKEN_JOINS,
        "learns": kind == Alert.SILENT,
        "is_about_new": kind == Alert.NEW_REASON,
        "judged_until": find_last_quarter(now) if kind in JUMPS else None,
        "preview_first_data": find_late_start(form.chosen_environment, kind, now=now),
        "missing_data": name_missing_data(form.chosen_environment, kind, firings),
        **_suggest_lower(form, firings, now=now),
    }


def _suggest_lower(form: AlertForm, firings: Preview, *, now: datetime) -> Mapping[str, Any]:
    """Return a lower minimum with which the alert would have fired, and the query of the form with it."""
    if firings.rows or not form.minimum_field:
        return {"lower": None}
    lower = suggest_minimum(form.chosen_environment, form.cleaned_data["kind"], form.thresholds, firings, now=now)
    query = f"?{form.write_query({form.minimum_field: lower.minimum})}" if lower else ""
    return {"lower": lower, "lower_query": query}
