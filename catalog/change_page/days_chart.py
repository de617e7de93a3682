"""The chart of the days around a change: by type, by presence, or by calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import Any

from catalog.browse.properties.chart import draw_calls, draw_presence, draw_types
from catalog.change_kinds import KINDS_BY_TYPE
from catalog.change_page import meaning_and_advice
from catalog.change_page.page_data import ONE_DAY, CurrentField
from catalog.models import Drift
from wire.time.period import Period


def describe_days(field: CurrentField | None, drift: Drift, period: Period, *, today: date) -> Mapping[str, Any]:
    """Return the chart of the days around a change, and the period of these days, for the list below the chart."""
    is_of_types = drift.kind in KINDS_BY_TYPE
    if field is None or len(field.days) < 2:
        return {"figure": None, "is_of_types": is_of_types}
    if meaning_and_advice.is_new_status(drift):
        figure = draw_calls(field.days, drift.part, today=today)
    elif is_of_types:
        figure = draw_types(field.days, today=today)
    else:
        figure = draw_presence(field.days, field.node, today=today)
    start, end = (datetime.combine(day, time(), UTC) for day in (field.days[0].day, field.days[-1].day + ONE_DAY))
    return {
        "figure": figure,
        "is_of_types": is_of_types,
        "is_partial": field.days[-1].day >= today,
        "chart_period": replace(period, start=start, end=end),
    }
