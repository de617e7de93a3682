"""Write moments and lengths of time; built into every template.

Filters: `ago`, `moment`, `countdown`, `lasting`, `lag`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from math import ceil

from django import template
from django.utils import timezone
from django.utils.html import format_html

from wire.format_numbers import NOTHING
from wire.time.timestamps import round_to_units

register = template.Library()

# (shorter than, unit, its abbreviation)
SPANS = (
    (timedelta(minutes=1), timedelta(seconds=1), "s"),
    (timedelta(hours=1), timedelta(minutes=1), "min"),
    (timedelta(days=1), timedelta(hours=1), "h"),
)
# (the shortest length for this unit, the unit, its name)
LENGTH_UNITS = (
    (timedelta(days=2), timedelta(days=1), "days"),
    (timedelta(hours=2), timedelta(hours=1), "h"),
    (timedelta(minutes=2), timedelta(minutes=1), "min"),
    (timedelta(seconds=1), timedelta(seconds=1), "s"),
)


@register.filter
def ago(moment: datetime | None, now: datetime | None = None) -> str:
    """Write `2 min ago` or `in 3 h` as a <time>, beyond 30 days a date, and `never` for None.

    The title of the <time> is the exact moment, in the active time zone.
    """
    if moment is None:
        return "never"
    now = now or timezone.now()
    local = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        local.isoformat(timespec="seconds"),
        f"{local:%a %-d %b %Y, %H:%M:%S %Z}",
        _describe_distance(now - moment) or f"{local:%-d %b %Y}",
    )


@register.filter(name="moment")
def format_moment(moment: datetime, precision: str = "minutes") -> str:
    """Write `Wed 18 Nov, 14:05` as a <time>, in the active time zone; its title is the exact moment.

    The year is written unless it is the current one; seconds are written if the precision is "seconds".
    """
    local = timezone.localtime(moment)
    year = "" if local.year == timezone.localtime().year else f" {local.year}"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        local.isoformat(timespec="seconds"),
        f"{local:%a %-d %b %Y, %H:%M:%S %Z}",
        f"{local:%a %-d %b}{year}, {local.time().isoformat(timespec=precision)}",
    )


@register.filter
def countdown(moment: datetime, now: datetime | None = None) -> str:
    """Write the time that is left as `4 min 08 s`, which static/js/countdown.js counts down; `0 s` if it has passed.

    Without the script, the text would never change, so it is not shown: templates show the moment itself then.
    """
    seconds = max(0, ceil((moment - (now or timezone.now())).total_seconds()))
    words = f"{seconds // 60} min {seconds % 60:02} s" if seconds >= 60 else f"{seconds} s"
    return format_html('<span class="only-script" data-seconds-left="{}">{}</span>', seconds, words)


@register.filter(name="lasting")
def format_length(length: timedelta | None) -> str:
    """Write `41 s` or `3 h`: rounded to the largest unit that gives at least two, or else to seconds."""
    if length is None:
        return NOTHING
    for least, unit, name in LENGTH_UNITS:
        if length >= least:
            return f"{round_to_units(length, unit)} {name}"
    return "under 1 s"


@register.filter(name="lag")
def format_lag(lag: timedelta | None) -> str:
    """Write how long after the start of its conversation an outcome came, or `46 min before the start`."""
    if lag is None or lag >= timedelta(0):
        return format_length(lag)
    return f"{format_length(-lag)} before the start"


def _describe_distance(age: timedelta) -> str:
    """Return `5 s ago`, `in 3 h` or `2 days ago`; "" beyond a month, where a date says more."""
    size = abs(age)
    if size < timedelta(seconds=1):
        return "now"
    for limit, unit, name in SPANS:
        if size < limit:
            return _add_direction(f"{size // unit} {name}", age)
    days = size // timedelta(days=1)
    if days > 30:
        return ""
    return _add_direction("1 day" if days == 1 else f"{days} days", age)


def _add_direction(words: str, age: timedelta) -> str:
    return f"{words} ago" if age > timedelta() else f"in {words}"
