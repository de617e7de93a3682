"""Links to other periods: the earlier and the later one, and this one with fixed ends."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django import template
from django.template import Context
from django.utils import timezone

from wire.filters import RESULT_MEMBERS, change_query
from wire.time.buckets import find_midnight
from wire.time.period import Period
from wire.time.timestamps import EARLIEST

register = template.Library()
ONE_DAY = timedelta(days=1)
PAGING = ("cursor", "page")


@register.simple_tag(takes_context=True)
def neighbour_period(context: Context, direction: str) -> str:
    """Return a link to the `earlier` or `later` period of the same length; "" if there is none."""
    members = find_neighbour(context["period"], -1 if direction == "earlier" else 1, now=timezone.now())
    return _change_current_query(context, members) if members else ""


@register.simple_tag(takes_context=True)
def fixed_period(context: Context) -> str:
    """Return a link to this page with fixed ends of the period, so that it shows the same tomorrow."""
    current: Period = context["period"]
    return _change_current_query(context, _query_members(current.start, current.end, current), keep_paging=True)


@register.filter
def dates(period: Period) -> str:
    """Write a period as `14 Nov – 20 Nov 2026`. A period of at most two days has hours, unless its days are whole.

    A short custom period that is not over is written as `since 25 Nov 02:30`.
    """
    first, last = _local_ends(period)
    if period.start <= EARLIEST:
        return f"until {_last_moment(period):%-d %b %Y}"
    if period.end - period.start <= 2 * ONE_DAY and not (
        _is_midnight(first, period.zone) and _is_midnight(last, period.zone)
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
    has_hours = period.end - period.start < ONE_DAY or _is_midnight(_local_ends(period)[1], period.zone)
    return name if has_hours else f"{name}, to the same hour"


@register.filter
def reaches_before(first: datetime | None, period: Period) -> bool:
    """Return whether data that begin at `first` reach into the period that this one is compared with."""
    return period.has_data_before(first)


@register.filter
def first_day(period: Period) -> str:
    """Write the first day for a date input; empty if the period has no beginning."""
    return "" if period.start <= EARLIEST else f"{_local_ends(period)[0]:%Y-%m-%d}"


@register.filter
def last_day(period: Period) -> str:
    """Write the last day, inclusive, for a date input."""
    return f"{_last_moment(period):%Y-%m-%d}"


def find_neighbour(period: Period, step: int, *, now: datetime) -> dict[str, str]:
    """Return `from` and `to` of the next period in one direction; {} before the beginning and beyond now."""
    if period.start <= EARLIEST or (step > 0 and period.end >= now):
        return {}
    first, last = _local_ends(period)
    length = period.end - period.start
    if _is_midnight(first, period.zone) and length > ONE_DAY / 2:
        days = last.date() - first.date() + (timedelta() if _is_midnight(last, period.zone) else ONE_DAY)
        first_date = first.date() + step * days
        return {} if first_date <= EARLIEST.date() else _whole_day_members(first_date, first_date + days)
    start = period.start + step * length
    return {} if start <= EARLIEST else _query_members(start, start + length, period)


def _query_members(start: datetime, end: datetime, period: Period) -> dict[str, str]:
    """Return `from` and `to`: local dates if the period consists of whole days, else local times with their offset."""
    first, last = start.astimezone(period.zone), end.astimezone(period.zone)
    if _is_midnight(first, period.zone) and _is_midnight(last, period.zone):
        return _whole_day_members(first.date(), last.date())
    return {"from": first.isoformat(timespec="minutes"), "to": last.isoformat(timespec="minutes")}


def _whole_day_members(first: date, after_last: date) -> dict[str, str]:
    """Return `from` and `to` as dates; `to` is the last day that is shown."""
    return {"from": first.isoformat(), "to": (after_last - ONE_DAY).isoformat()}


def _local_ends(period: Period) -> tuple[datetime, datetime]:
    return period.start.astimezone(period.zone), period.end.astimezone(period.zone)


def _last_moment(period: Period) -> datetime:
    """Return the local time of the last microsecond. It is computed in UTC, because clocks may skip midnight."""
    return (period.end - timedelta.resolution).astimezone(period.zone)


def _is_midnight(local: datetime, zone: ZoneInfo) -> bool:
    """Return whether the local day begins at this moment, which is 01:00 if the zone's clocks skip midnight."""
    return local.astimezone(UTC) == find_midnight(local.date(), zone)


def _change_current_query(context: Context, members: dict[str, str], *, keep_paging: bool = False) -> str:
    cleared_members = dict.fromkeys((*RESULT_MEMBERS, "range", *([] if keep_paging else PAGING)))
    changes: dict[str, Any] = {**cleared_members, **members}
    query = change_query(context["request"].GET, changes).urlencode()
    return f"{context.get('own_address', '')}?{query}"
