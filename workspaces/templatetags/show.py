"""How numbers, times and addresses are written; built into every template.

Filters: `count`, `percent`, `ago`, `bytes`, `breakable`. Tags: `query`, `query_inputs`, `page_url`, `kept_range`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django import template
from django.http import QueryDict
from django.template import Context
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()

NOTHING = "–"
RANGE_MEMBERS = ("range", "from", "to", "tz")
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
# (shorter than, one unit of, how it is written)
SPANS = (
    (timedelta(minutes=1), timedelta(seconds=1), "s"),
    (timedelta(hours=1), timedelta(minutes=1), "min"),
    (timedelta(days=1), timedelta(hours=1), "h"),
)


@register.filter
def count(value: int | float | None) -> str:
    """12204 as `12,204`; nothing known as a dash."""
    return NOTHING if value is None else f"{value:,}"


@register.filter
def percent(part: float | None, whole: float | None) -> str:
    """`part|percent:whole`, as `2.5 %`. Only none is 0 %, only all is 100 %; of nothing there is no rate."""
    if part is None or not whole:
        return NOTHING
    rate = 100 * part / whole
    if 0 < rate < 0.01:
        return "< 0.01 %"
    if rate < 1:
        return f"{rate:.2f}".rstrip("0").rstrip(".") + " %"
    if 99.9 < rate < 100:
        return "> 99.9 %"
    return f"{rate:,.1f}".removesuffix(".0") + " %"


@register.filter
def ago(moment: datetime | None, now: datetime | None = None) -> str:
    """`2 min ago` as a <time> that tells the exact moment, in the zone that is active, as its title."""
    if moment is None:
        return "never"
    now = now or timezone.now()
    local = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        local.isoformat(timespec="seconds"),
        f"{local:%a %-d %b %Y, %H:%M:%S %Z}",
        in_words(now - moment) or f"{local:%-d %b %Y}",
    )


@register.filter(name="bytes")
def in_bytes(value: float | None) -> str:
    """4194304 as `4 MiB`."""
    if value is None:
        return NOTHING
    unit = min(max(int(value).bit_length() - 1, 0) // 10, len(UNITS) - 1)
    scaled = value / 1024**unit
    return f"{scaled:.1f}".removesuffix(".0") + f" {UNITS[unit]}"


@register.filter
def breakable(path: str) -> SafeString:
    """A path that is wrapped behind its slashes and nowhere else."""
    return SafeString(escape(path[:1]) + escape(path[1:]).replace("/", "/<wbr>"))


@register.simple_tag(takes_context=True)
def query(context: Context, **changes: Any) -> str:
    """The current query string with changes, from the question mark on; None and "" take a member out."""
    return "?" + changed(context["request"].GET, changes).urlencode()


@register.simple_tag(takes_context=True)
def query_inputs(context: Context, *without: str) -> SafeString:
    """The current query as hidden inputs, for a form that changes only the members `without`."""
    members = changed(context["request"].GET, dict.fromkeys(without))
    pairs = [(name, value) for name, values in members.lists() for value in values]
    return format_html_join("", '<input type="hidden" name="{}" value="{}">', pairs)


@register.simple_tag(takes_context=True)
def page_url(context: Context, page: str, **members: Any) -> str:
    """The address of a page of this workspace and environment, in the range that is being looked at.

    `page` is the name given to page_paths, with ".csv" or ".json" behind it for a download.
    """
    environment = context["environment"]
    address = reverse(page, args=[environment.workspace.slug, environment.name])
    return address + with_mark(changed(of_range(context["request"].GET), members))


@register.simple_tag(takes_context=True)
def kept_range(context: Context) -> str:
    """The members of the current query that make the range, from the question mark on; "" without any."""
    return with_mark(of_range(context["request"].GET))


def changed(members: QueryDict, changes: Mapping[str, Any]) -> QueryDict:
    copy = members.copy()
    for name, value in changes.items():
        copy.pop(name, None)
        if value not in (None, ""):
            copy[name] = str(value)
    return copy


def of_range(members: QueryDict) -> QueryDict:
    return changed(members, {name: None for name in members if name not in RANGE_MEMBERS})


def with_mark(members: QueryDict) -> str:
    return f"?{members.urlencode()}" if members else ""


def in_words(passed: timedelta) -> str:
    """`5 s ago`, `in 3 h`, `2 days ago`; "" beyond a month, where a date says more."""
    size = abs(passed)
    if size < timedelta(seconds=1):
        return "now"
    for limit, unit, name in SPANS:
        if size < limit:
            return directed(f"{size // unit} {name}", passed)
    days = size // timedelta(days=1)
    if days > 30:
        return ""
    return directed("1 day" if days == 1 else f"{days} days", passed)


def directed(words: str, passed: timedelta) -> str:
    return f"{words} ago" if passed > timedelta() else f"in {words}"
