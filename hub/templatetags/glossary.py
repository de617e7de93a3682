"""Explain a term of the glossary where a page uses it; built into every template."""

from __future__ import annotations

from django import template
from django.template import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString

from hub.glossary.terms import Term, read_terms
from workspaces.templatetags.addresses import page_url

register = template.Library()


@register.simple_tag(takes_context=True)
def term(context: Context, name: str, word: str = "") -> SafeString:
    """Return a button that explains a term of the glossary. Use it once for each term on a page.

    word: what the page calls it, if that is another word.
    """
    entry = read_terms()[name]
    return format_html(
        '<button type="button" class="term" popovertarget="{id}" aria-label="Explain {name}">?</button>'
        '<span popover class="explanation" id="{id}"><b>{title}</b>: {meaning}.{link}</span>',
        id=entry.id,
        name=word or name,
        title=f"{word.capitalize()}, or {name}" if word else entry.title,
        meaning=entry.meaning,
        link=_link_glossary(context, entry),
    )


def _link_glossary(context: Context, entry: Term) -> SafeString:
    """Return a link to the term on the page of all terms; "" outside of a workspace and for strangers."""
    if "environment" not in context or not context["request"].user.is_authenticated:
        return SafeString("")
    return format_html(' <a href="{}#{}">Glossary</a>', page_url(context, "glossary"), entry.id)
