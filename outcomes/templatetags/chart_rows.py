"""Write the numbers of a chart as table rows."""

from __future__ import annotations

from collections.abc import Iterable

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from wire.time.buckets import Bucket
from workspaces.templatetags.numbers import count

register = template.Library()


@register.filter(name="rows")
def render_rows(buckets: Iterable[tuple[Bucket, Iterable[int]]]) -> SafeString:
    """Write buckets with their numbers as table rows. Template tags would be too slow for a year of days."""
    row = '<tr><th scope="row" class="nowrap">{}</th>{}</tr>\n    '
    return format_html_join("", row, ((bucket.label, _render_cells(numbers)) for bucket, numbers in buckets))


def _render_cells(numbers: Iterable[int]) -> SafeString:
    """Write numbers as cells; digits need no escaping."""
    return SafeString("".join(f'<td class="num">{count(int(number))}</td>' for number in numbers))
