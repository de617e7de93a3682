"""Format numbers, times and addresses; built into every template.

Filters: `count`, `percent`, `change`, `ago`, `moment`, `countdown`, `bytes`, `fact`, `member`, `breakable`,
`code_spans`, `keep_members`. Tags: `rate_change`, `query`, `changed_query`, `query_elsewhere`, `query_inputs`,
`disclosure`, `page_url`, `environment_page_url`, `period_query`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import Any
from urllib.parse import urlencode

from django import template
from django.template import Context
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString

from wire.filters import COMPARISON_MEMBERS, PERIOD_MEMBERS, RESULT_MEMBERS, VIEW_MEMBERS, change_query
from wire.format_numbers import NOTHING, format_percent
from wire.time.timestamps import read_moment
from workspaces.audit.describe import space_name
from workspaces.models import Environment

register = template.Library()

ISO_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
SMALLEST_POINTS = 0.05  # smaller differences would be rounded to 0.0
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
# (shorter than, unit, its abbreviation)
SPANS = (
    (timedelta(minutes=1), timedelta(seconds=1), "s"),
    (timedelta(hours=1), timedelta(minutes=1), "min"),
    (timedelta(days=1), timedelta(hours=1), "h"),
)


@register.filter
def count(value: int | float | None) -> str:
    """Write 12204 as `12,204`, and None as a dash."""
    return NOTHING if value is None else f"{value:,}"


@register.filter
def percent(part: float | None, whole: float | None) -> str:
    """Write `part|percent:whole` as `2.5 %`."""
    return format_percent(part, whole)


def _format_points(difference: float) -> str:
    """Write a difference of two rates in percentage points as `+1.2`. A difference below 0.05 is `±0`."""
    return f"{difference:+.1f}".replace("-", "−") if abs(difference) >= SMALLEST_POINTS else "±0"


@register.filter(name="change")
def format_change(now: int, before: int) -> str:
    """Write `now|change:before` as `+11.2 %`, from a doubling on as `6.5×`. A change from 0 is a dash.

    A change that would be rounded to 0.0 is `±0 %`; only a fall to 0 is `−100 %`.
    """
    if not before:
        return NOTHING
    if now >= 2 * before:
        return f"{now / before:,.1f}×".replace(".0×", "×")
    if now in (0, before):
        return "0 %" if now else "−100 %"
    rate = 100 * abs(now - before) / before
    if rate < SMALLEST_POINTS:
        return "±0 %"
    return f"{'+' if now > before else '−'}{min(rate, 99.9):.1f} %"


@register.simple_tag
def rate_change(part: int, whole: int, previous_part: int, previous_whole: int) -> str:
    """Write by how many percentage points a rate differs from the previous one; "" if one of them does not exist.

    Both rates are rounded first, so that the difference agrees with the rates on the page. If the exact rates differ
    by less than SMALLEST_POINTS, the difference is `±0`.
    """
    if not whole or not previous_whole:
        return ""
    if abs(100 * part / whole - 100 * previous_part / previous_whole) < SMALLEST_POINTS:
        return _format_points(0)
    return _format_points(round(100 * part / whole, 1) - round(100 * previous_part / previous_whole, 1))


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


@register.filter(name="bytes")
def format_bytes(value: float | None) -> str:
    """Write 4194304 as `4 MiB`."""
    if value is None:
        return NOTHING
    unit = min(max(int(value).bit_length() - 1, 0) // 10, len(UNITS) - 1)
    number = value / 1024**unit
    return f"{number:.1f}".removesuffix(".0") + f" {UNITS[unit]}"


@register.filter(name="fact")
def format_fact(value: Any) -> str:
    """Write a JSON value of the audit log for a reader: members by name, lists with commas, times as `moment` does."""
    match value:
        case Mapping():
            return format_html_join(
                ", ", "{} {}", ((space_name(name), format_fact(part)) for name, part in value.items())
            )
        case list():
            return format_html_join(", ", "{}", ((format_fact(item),) for item in value))
        case bool():
            return "yes" if value else "no"
        case str() if ISO_MOMENT.fullmatch(value) and (moment := read_moment({"value": value}, "value")):
            return format_moment(moment)
        case None:
            return "none"
        case _:
            return str(value)


@register.filter
def member(values: Mapping[Any, Any], key: Any) -> Any:
    """Return a value by its key, or None. Without this filter, a template cannot use a variable as a key."""
    return values.get(key)


@register.filter
def breakable(path: str) -> SafeString:
    """Let a path wrap behind its slashes but the first, and nowhere else."""
    return SafeString(escape(path[:1]) + escape(path[1:]).replace("/", "/<wbr>"))


@register.filter
def code_spans(text: str) -> SafeString:
    """Show the text between backticks as code."""
    pieces = [escape(piece) for piece in text.split("`")]
    return SafeString("".join(f"<code>{piece}</code>" if index % 2 else piece for index, piece in enumerate(pieces)))


@register.simple_tag(takes_context=True)
def query(context: Context, **changes: Any) -> str:
    """Return a link to this page with the changes of `changed_query`; it leads there from the answer to a form, too."""
    return str(context.get("own_address", "")) + changed_query(context, **changes)


@register.simple_tag(takes_context=True)
def changed_query(context: Context, **changes: Any) -> str:
    """Return the current query with changes, from the question mark on; None and "" remove a member (`name=value`).

    Members with a value that the page does not know are left out; so are VIEW_MEMBERS and RESULT_MEMBERS, and the
    values beyond those that the page takes.
    """
    cleared_members = dict.fromkeys((*VIEW_MEMBERS, *RESULT_MEMBERS, *(context.get("unknown") or ())))
    cut_members = context.get("cut") or {}
    return "?" + change_query(context["request"].GET, cleared_members | cut_members | changes).urlencode()


@register.simple_tag(takes_context=True)
def query_elsewhere(context: Context, environment: Environment) -> str:
    """Return the current query for the same page of another environment.

    A comparison with that environment becomes one with the environment that is shown now.
    """
    address = context["request"].GET
    comparison_members = [name for name in COMPARISON_MEMBERS if address.get(name) == environment.name]
    return changed_query(
        context, **dict.fromkeys(comparison_members, context["environment"].name), cursor=None, page=None
    )


@register.simple_tag(takes_context=True)
def query_inputs(context: Context, *without: str) -> SafeString:
    """Return the current query as hidden inputs, for a form that changes only the members `without`."""
    members = change_query(context["request"].GET, dict.fromkeys((*RESULT_MEMBERS, *without)))
    pairs = [(name, value) for name, values in members.lists() for value in values]
    return format_html_join("", '<input type="hidden" name="{}" value="{}">', pairs)


@register.simple_tag(takes_context=True)
def period_inputs(context: Context) -> SafeString:
    """Return the members of the current query that name the period as hidden inputs, for a form with its own query."""
    return format_html_join("", '<input type="hidden" name="{}" value="{}">', _list_period_members(context))


@register.simple_tag(takes_context=True)
def disclosure(context: Context, key: str, is_open: bool = False) -> SafeString:
    """Return the attributes of a <details>. The address says whether the reader has opened or closed it.

    key: its name, unique on the page.
    is_open: whether it is open at first.
    """
    address = context["request"].GET
    is_changed = key in address.getlist("closed" if is_open else "open")
    at_first = " data-open-at-first" if is_open else ""
    return format_html('data-disclosure="{}"{}{}', key, at_first, " open" if is_open != is_changed else "")


@register.simple_tag(takes_context=True)
def page_url(context: Context, page: str, **members: Any) -> str:
    """Return the address of a page of this workspace and environment, in the period that is shown.

    page: its name in page_paths; with ".csv" or ".json" behind it, the address of a download.
    """
    return environment_page_url(context, context["environment"].name, page, **members)


@register.simple_tag(takes_context=True)
def environment_page_url(context: Context, environment: str, page: str, **members: Any) -> str:
    """Return the address of a page of another environment of this workspace, in the period that is shown."""
    address = reverse(page, args=[context["environment"].workspace.slug, environment])
    period = [(name, value) for name, value in _list_period_members(context) if name not in members]
    changes = [(name, value) for name, value in members.items() if value not in (None, "")]
    return address + _write_query([*period, *changes])


@register.simple_tag(takes_context=True)
def period_query(context: Context) -> str:
    """Return the members of the current query that name the period, from the question mark on; "" without any."""
    return _write_query(_list_period_members(context))


@register.filter
def keep_members(query: str, kept_query: str) -> str:
    """Add the members of `kept_query`, such as the period's, to `query`, before its fragment. Both begin with `?`."""
    members, mark, fragment = query.partition("#")
    return (
        f"{members}&{kept_query[1:]}{mark}{fragment}"
        if members and kept_query
        else f"{members or kept_query}{mark}{fragment}"
    )


def _list_period_members(context: Context) -> list[tuple[str, str]]:
    lists = context["request"].GET.lists()
    return [(name, value) for name, values in lists if name in PERIOD_MEMBERS for value in values]


def _write_query(members: Sequence[tuple[str, Any]]) -> str:
    return f"?{urlencode(members)}" if members else ""


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
