"""Write addresses of pages and their queries; built into every template.

Filter: `keep_members`. Tags: `query`, `changed_query`, `query_elsewhere`, `query_inputs`, `period_inputs`,
`period_query`, `disclosure`, `page_url`, `environment_page_url`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from wire.address_members import COMPARISON_MEMBERS, PERIOD_MEMBERS, RESULT_MEMBERS, VIEW_MEMBERS, change_query
from workspaces.models import Environment

register = template.Library()


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
def period_query(context: Context) -> str:
    """Return the members of the current query that name the period, from the question mark on; "" without any."""
    return _write_query(_list_period_members(context))


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
