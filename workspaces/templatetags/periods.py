"""Links to other periods: the earlier and the later one, and this one with fixed ends."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django import template
from django.template import Context
from django.utils import timezone

from wire.address_members import RESULT_MEMBERS, change_query
from wire.time.buckets import is_midnight
from wire.time.period import Period
from wire.time.timestamps import EARLIEST

register = template.Library()
ONE_DAY = timedelta(days=1)
PAGING = ("cursor", "page")


@register.simple_tag(takes_context=True)
def neighbour_period(context: Context, direction: str) -> str:
    """Return a link to the `earlier` or `later` period of the same length; "" if there is none."""
    current: Period = context["period"]
    neighbour = current.find_neighbour(-1 if direction == "earlier" else 1, now=timezone.now())
    return _change_current_query(context, write_period(neighbour)) if neighbour else ""


@register.simple_tag(takes_context=True)
def fixed_period(context: Context) -> str:
    """Return a link to this page with fixed ends of the period, so that it shows the same tomorrow."""
    current: Period = context["period"]
    return _change_current_query(context, write_period(current), keep_paging=True)


@register.filter
def dates(period: Period) -> str:
    """Write a period as `14 Nov – 20 Nov 2026`. A period of at most two days has hours, unless its days are whole.

    A short custom period that is not over is written as `since 25 Nov 02:30`.
    """
    first, last = period.local_ends
    if period.start <= EARLIEST:
        return f"until {_last_moment(period):%-d %b %Y}"
    if period.end - period.start <= 2 * ONE_DAY and not (
        is_midnight(first, period.zone) and is_midnight(last, period.zone)
    ):
        if period.is_current and not period.preset:
            return f"since {first:%-d %b %H:%M}"
        return f"{first:%-d %b %H:%M} – {last:%-d %b %H:%M %Y}"
    last = _last_moment(period)
    if first.date() == last.date():
        return f"{first:%-d %b %Y}"
    is_same_year = first.year == last.year
    return f"{first:%-d %b} – {last:%-d %b %Y}" if is_same_year else f"{first:%-d %b %Y} – {last:%-d %b %Y}"


@register.filter
def preceding(period: Period) -> str:
    """Name the period that this one is compared with: `the 7 days before, to the same hour`, or its dates.

    Both periods end at the same time of day. Without `to the same hour`, the last day would seem to count as a whole.
    The words are left out if that day does count as a whole, or if the period is shorter than a day: its dates then
    have hours.
    """
    if period.preset == "24h":
        return "the same hours a week before"
    name = "the 7 days before" if period.preset == "7d" else dates(period.previous())
    end = period.compared_end
    has_hours = end - period.start < ONE_DAY or is_midnight(end.astimezone(period.zone), period.zone)
    return name if has_hours else f"{name}, to the same hour"


@register.filter
def reaches_before(first: datetime | None, period: Period) -> bool:
    """Return whether data that begin at `first` reach into the period that this one is compared with."""
    return period.has_data_before(first)


@register.filter
def first_day(period: Period) -> str:
    """Write the first day for a date input; empty if the period has no beginning."""
    return "" if period.start <= EARLIEST else f"{period.local_ends[0]:%Y-%m-%d}"


@register.filter
def last_day(period: Period) -> str:
    """Write the last day, inclusive, for a date input."""
    return f"{_last_moment(period):%Y-%m-%d}"


def write_period(period: Period) -> dict[str, str]:
    """Return `from` and `to`: local dates if the period consists of whole days, else local times with their offset."""
    first, last = period.local_ends
    if is_midnight(first, period.zone) and is_midnight(last, period.zone):
        return {"from": first.date().isoformat(), "to": (last.date() - ONE_DAY).isoformat()}
    return {"from": first.isoformat(timespec="minutes"), "to": last.isoformat(timespec="minutes")}


def _last_moment(period: Period) -> datetime:
    """Return the local time of the last microsecond. It is computed in UTC, because clocks may skip midnight."""
    return (period.end - timedelta.resolution).astimezone(period.zone)


def _change_current_query(context: Context, members: dict[str, str], *, keep_paging: bool = False) -> str:
    cleared_members = dict.fromkeys((*RESULT_MEMBERS, "range", *([] if keep_paging else PAGING)))
    changes: dict[str, Any] = {**cleared_members, **members}
    query = change_query(context["request"].GET, changes).urlencode()
    return f"{context.get('own_address', '')}?{query}"
