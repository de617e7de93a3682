"""How the outcomes pages write a change and a length of time."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from workspaces.templatetags.show import NOTHING, count, percent

register = template.Library()

UNITS = (
    (timedelta(days=2), timedelta(days=1), "days"),
    (timedelta(hours=2), timedelta(hours=1), "h"),
    (timedelta(minutes=2), timedelta(minutes=1), "min"),
    (timedelta(seconds=1), timedelta(seconds=1), "s"),
)


@register.filter
def change(now: int, before: int) -> str:
    """`now|change:before`, as `+11.2 %`; from nothing there is no rate."""
    if not before:
        return NOTHING
    sign = "+" if now > before else "−" if now < before else ""
    return sign + percent(abs(now - before), before)


@register.filter
def cells(numbers: Iterable[int]) -> SafeString:
    """A row's numbers as its cells; a table of a year of days has thousands, and a tag for each would take long."""
    return format_html_join("", '<td class="num">{}</td>', ((count(number),) for number in numbers))


@register.filter
def lasting(length: timedelta | None) -> str:
    """`41 s`, `3 h`: in the largest unit of which there are at least two."""
    if length is None:
        return NOTHING
    for least, unit, name in UNITS:
        if length >= least:
            return f"{length // unit} {name}"
    return "under 1 s"
