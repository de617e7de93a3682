"""Steps through time: the period before and after the one that is shown, and the same period frozen."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

from django import template
from django.template import Context
from django.utils import timezone

from wire.period import Period
from wire.timestamps import EARLIEST
from workspaces.templatetags.show import changed

register = template.Library()
DAY = timedelta(days=1)
PAGING = {"cursor": None, "page": None}


@register.simple_tag(takes_context=True)
def period(context: Context, direction: str) -> str:
    """The query of the `earlier` or `later` period of the same length; "" where there is none."""
    shown: Period = context["range"]
    members = neighbour(shown, -1 if direction == "earlier" else 1, now=timezone.now())
    return with_members(context, members) if members else ""


@register.simple_tag(takes_context=True)
def frozen(context: Context) -> str:
    """The current query with the range as fixed ends, so that a copied link shows the same tomorrow."""
    shown: Period = context["range"]
    return with_members(context, ends(shown.start, shown.end, shown), keep_paging=True)


@register.filter
def dates(shown: Period) -> str:
    """`14 Nov – 20 Nov 2026`, with hours where the range does not consist of days."""
    first, last = shown.start.astimezone(shown.zone), shown.end.astimezone(shown.zone)
    if shown.start <= EARLIEST:
        return f"until {last:%-d %b %Y}"
    if shown.end - shown.start <= 2 * DAY and not (is_midnight(first) and is_midnight(last)):
        return f"{first:%-d %b %H:%M} – {last:%-d %b %H:%M %Y}"
    last -= timedelta(microseconds=1)
    if first.date() == last.date():
        return f"{first:%-d %b %Y}"
    same_year = first.year == last.year
    return f"{first:%-d %b} – {last:%-d %b %Y}" if same_year else f"{first:%-d %b %Y} – {last:%-d %b %Y}"


@register.filter
def first_day(shown: Period) -> str:
    """For a date input; empty where the range has no beginning."""
    return "" if shown.start <= EARLIEST else f"{shown.start.astimezone(shown.zone):%Y-%m-%d}"


@register.filter
def last_day(shown: Period) -> str:
    return f"{shown.end.astimezone(shown.zone) - timedelta(microseconds=1):%Y-%m-%d}"


def neighbour(shown: Period, step: int, *, now: datetime) -> dict[str, str]:
    """`from` and `to` of the next period in one direction; {} before the beginning and beyond now."""
    if shown.start <= EARLIEST or (step > 0 and shown.end >= now):
        return {}
    first, last = shown.start.astimezone(shown.zone), shown.end.astimezone(shown.zone)
    length = shown.end - shown.start
    if is_midnight(first) and length > DAY / 2:
        days = last.date() - first.date() + (timedelta() if is_midnight(last) else DAY)
        start = first.date() + step * days
        return {} if start <= EARLIEST.date() else whole_days(start, start + days)
    start = shown.start + step * length
    return {} if start <= EARLIEST else ends(start, start + length, shown)


def ends(start: datetime, end: datetime, shown: Period) -> dict[str, str]:
    """Local dates where they say it exactly, else local times with their offset."""
    first, last = start.astimezone(shown.zone), end.astimezone(shown.zone)
    if is_midnight(first) and is_midnight(last):
        return whole_days(first.date(), last.date())
    return {"from": first.isoformat(timespec="minutes"), "to": last.isoformat(timespec="minutes")}


def whole_days(first: date, after_last: date) -> dict[str, str]:
    """`to` names the last day that is shown."""
    return {"from": first.isoformat(), "to": (after_last - DAY).isoformat()}


def is_midnight(local: datetime) -> bool:
    return local.time() == time()


def with_members(context: Context, members: dict[str, str], *, keep_paging: bool = False) -> str:
    changes: dict[str, Any] = {"range": None, **({} if keep_paging else PAGING), **members}
    return "?" + changed(context["request"].GET, changes).urlencode()
