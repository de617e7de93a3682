"""Terms that are explained where they stand; built into every template. docs/glossary.md has the explanations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from django import template
from django.conf import settings
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()
ROW = re.compile(r"^\| (?!word )([^|]+) \| ([^|]+) \|", re.MULTILINE)


@register.simple_tag
def term(name: str) -> SafeString:
    """Return a button that explains a term of the glossary. Use it once for each term on a page."""
    return format_html(
        '<button type="button" class="term" popovertarget="{id}" aria-label="Explain {name}">?</button>'
        '<span popover class="explanation" id="{id}"><b>{title}</b>: {meaning}.</span>',
        id=f"term-{name.replace(' ', '-')}",
        name=name,
        title=name[:1].upper() + name[1:],
        meaning=read_glossary()[name],
    )


@cache
def read_glossary() -> Mapping[str, str]:
    """Return what each term means. If several terms share a row, it has a meaning for each of them, or one for all."""
    text = (settings.BASE_DIR / "docs/glossary.md").read_text().replace("`", "")
    meanings: dict[str, str] = {}
    for words, meaning in ROW.findall(text):
        names = [re.sub(r" \(.*\)", "", word) for word in words.split(", ")]
        parts = meaning.split("; ")
        each = parts if len(parts) == len(names) else [meaning] * len(names)
        meanings |= dict(zip(names, each, strict=True))
    return meanings
