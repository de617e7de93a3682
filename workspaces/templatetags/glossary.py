"""Terms that are explained where they stand; built into every template."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from workspaces.glossary import read_terms

register = template.Library()


@register.simple_tag
def term(name: str) -> SafeString:
    """Return a button that explains a term of the glossary. Use it once for each term on a page."""
    entry = read_terms()[name]
    return format_html(
        '<button type="button" class="term" popovertarget="{id}" aria-label="Explain {name}">?</button>'
        '<span popover class="explanation" id="{id}"><b>{title}</b>: {meaning}.</span>',
        id=entry.id,
        name=name,
        title=entry.title,
        meaning=entry.meaning,
    )
