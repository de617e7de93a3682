"""How the outcomes pages write a change and a length of time."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from wire.time_buckets import Bucket
from workspaces.templatetags.format import NOTHING, count, percent

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
def rows(buckets: Iterable[tuple[Bucket, Iterable[int]]]) -> SafeString:
    """Buckets with their numbers as rows; a year of days has thousands, and a tag for each would take long."""
    row = '<tr><th scope="row" class="nowrap">{}</th>{}</tr>\n    '
    return format_html_join("", row, ((bucket.label, cells(numbers)) for bucket, numbers in buckets))


def cells(numbers: Iterable[int]) -> SafeString:
    """Nothing in a number has to be escaped."""
    return SafeString("".join(f'<td class="num">{count(int(number))}</td>' for number in numbers))


@register.filter
def lasting(length: timedelta | None) -> str:
    """`41 s`, `3 h`: in the largest unit of which there are at least two."""
    if length is None:
        return NOTHING
    for least, unit, name in UNITS:
        if length >= least:
            return f"{length // unit} {name}"
    return "under 1 s"
