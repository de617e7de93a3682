"""The marks on the charts of a page: annotations and breaking drift of its period."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import template
from django.template import Context

from catalog.drift.queries import list_breaking_drift
from catalog.models import Drift
from workspaces.annotations.marks import COMPATIBLE, DRIFT, ChartEvent, place_marks
from workspaces.annotations.queries import list_annotations_of_period
from workspaces.templatetags.addresses import page_url

MAX_OF_A_KIND = 200  # the latest, on a chart and below it; the downloads have all
LISTED = 3  # listed below a chart; a click shows the others
register = template.Library()


@dataclass(frozen=True)
class ChartMarks:
    """The marks of a chart as JSON, and what happened, the latest first.

    is_cut: whether only the latest are here.
    listed_events: those that are shown at first: the drift of the page's own field, or the latest drift, and then
        annotations.
    folded_events: all other events.

    A chart of one field marks no drift of other fields.
    """

    marks: Sequence[Mapping[str, Any]]
    listed_events: Sequence[ChartEvent]
    folded_events: Sequence[ChartEvent]
    is_cut: bool


@register.simple_tag(takes_context=True)
def find_marks(context: Context, figure: Mapping[str, Any]) -> ChartMarks | None:
    """Return what a figure's chart marks; None if it has no time axis, or nothing happened.

    A page about one field names it in `chart_field`: the operation's row id, the part and the pointer. The
    page of one change names it in `chart_change`, which is marked even if it is muted.
    """
    starts = figure["layout"].get("meta", {}).get("starts")
    if not starts:
        return None
    environment, period = context["environment"], context["period"]
    annotations = list(list_annotations_of_period(environment, period)[: MAX_OF_A_KIND + 1])
    drift = list(list_breaking_drift(environment, period)[: MAX_OF_A_KIND + 1])
    is_cut = max(len(annotations), len(drift)) > MAX_OF_A_KIND
    field = context.get("chart_field")
    own_drift = [change for change in drift if (change.operation_id, change.part, change.pointer) == field]
    own_change = context.get("chart_change")
    if own_change and own_change not in own_drift:  # it is muted, or breaks nobody
        own_drift.append(own_change)
    other_drift = [] if field else drift[:MAX_OF_A_KIND]
    events = [
        *(_describe_drift(context, change) for change in own_drift),
        *(_describe_drift(context, change) for change in other_drift[:1]),
        *(ChartEvent(row.at, row.text, row.url) for row in annotations[:MAX_OF_A_KIND]),
        *(_describe_drift(context, change) for change in other_drift[1:]),
    ]
    if not events:
        return None
    marks = [mark.as_json() for mark in place_marks(starts, events)]
    return ChartMarks(marks, _sort(events[:LISTED]), _sort(events[LISTED:]), is_cut)


def _sort(events: Sequence[ChartEvent]) -> Sequence[ChartEvent]:
    """Return the latest first."""
    return sorted(events, key=lambda event: event.at, reverse=True)


def _describe_drift(context: Context, change: Drift) -> ChartEvent:
    operation = change.operation
    location = change.pointer or change.part
    address = page_url(context, "change", id=change.pk)
    text = f"{operation.method} {operation.path}: {location} {change.words}"
    return ChartEvent(change.at, text, address, DRIFT if change.breaks else COMPATIBLE)
