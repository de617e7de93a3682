"""Write the numbers of a chart as table rows."""

from __future__ import annotations

from collections.abc import Iterable

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from wire.format_numbers import NOTHING
from wire.time.buckets import Bucket
from workspaces.templatetags.numbers import count

register = template.Library()


@register.filter(name="rows")
def render_rows(buckets: Iterable[tuple[Bucket, Iterable[int | None]]]) -> SafeString:
    """Write buckets with their numbers as table rows. Template tags would be too slow for a year of days."""
    row = '<tr><th scope="row" class="nowrap">{}</th>{}</tr>\n    '
    return format_html_join("", row, ((bucket.label, _render_cells(numbers)) for bucket, numbers in buckets))


def _render_cells(numbers: Iterable[int | None]) -> SafeString:
    """Write numbers as cells, which need no escaping; None as a dash."""
    texts = (NOTHING if number is None else count(int(number)) for number in numbers)
    return SafeString("".join(f'<td class="num">{text}</td>' for text in texts))
