"""Write a length of time, the colour of a change, and the numbers of a chart as table rows, for the outcomes pages."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from wire.format_numbers import NOTHING
from wire.time.buckets import Bucket
from wire.time.timestamps import round_to_units
from workspaces.templatetags.format import count

register = template.Library()

# (the shortest length for this unit, the unit, its name)
LENGTH_UNITS = (
    (timedelta(days=2), timedelta(days=1), "days"),
    (timedelta(hours=2), timedelta(hours=1), "h"),
    (timedelta(minutes=2), timedelta(minutes=1), "min"),
    (timedelta(seconds=1), timedelta(seconds=1), "s"),
)


@register.filter(name="direction")
def name_direction(now: int, before: int) -> str:
    """Return the CSS class that colours a change: `up` (good) if the number grew, `down` (bad) if it fell.

    Return "" if it stayed the same, or was 0 before.
    """
    if not before or now == before:
        return ""
    return "up" if now > before else "down"


@register.filter(name="rows")
def render_rows(buckets: Iterable[tuple[Bucket, Iterable[int]]]) -> SafeString:
    """Write buckets with their numbers as table rows. Template tags would be too slow for a year of days."""
    row = '<tr><th scope="row" class="nowrap">{}</th>{}</tr>\n    '
    return format_html_join("", row, ((bucket.label, _render_cells(numbers)) for bucket, numbers in buckets))


def _render_cells(numbers: Iterable[int]) -> SafeString:
    """Write numbers as cells; digits need no escaping."""
    return SafeString("".join(f'<td class="num">{count(int(number))}</td>' for number in numbers))


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
