"""Write names, paths and values of the audit log; built into every template.

Filters: `fact`, `member`, `escape_invisible`, `spell_out`, `breakable`, `code_spans`. Tag: `environment_label`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django import template
from django.template import Context
from django.utils.html import escape, format_html_join
from django.utils.safestring import SafeString

from wire.text.invisible_characters import escape_invisible, spell_out
from wire.time.timestamps import read_moment
from workspaces.audit.describe import space_name
from workspaces.templatetags.times import format_moment

register = template.Library()
register.filter("escape_invisible", escape_invisible)
register.filter("spell_out", spell_out)

ISO_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


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


@register.simple_tag(takes_context=True, name="environment_label")
def find_environment_label(context: Context, name: str) -> str:
    """Return the label that people read for an environment of this name; the name, if the reader sees no such one."""
    return next((str(environment) for environment in context["environments"] if environment.name == name), name)


@register.filter
def breakable(path: str) -> SafeString:
    """Let a path wrap behind its slashes but the first, and nowhere else; its invisible characters are codes.

    A method before the path, as in `GET /orders`, can stand on a line of its own.
    """
    start, slash, rest = escape_invisible(path).partition("/")
    return SafeString(escape(start + slash) + escape(rest).replace("/", "/<wbr>"))


@register.filter
def code_spans(text: str) -> SafeString:
    """Show the text between backticks as code."""
    pieces = [escape(piece) for piece in text.split("`")]
    return SafeString("".join(f"<code>{piece}</code>" if index % 2 else piece for index, piece in enumerate(pieces)))
