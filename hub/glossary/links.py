"""Link the terms that the meaning of another term mentions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

from hub.glossary.terms import read_terms


def link_terms(marked_meaning: str, own_names: Collection[str]) -> Iterator[SafeString]:
    """Yield the HTML of a meaning. The first mention of each other term is a link, except within code."""
    terms = {name: term for name, term in read_terms().items() if name not in own_names}
    for number, part in enumerate(marked_meaning.split("`")):
        if number % 2:
            yield format_html("<code>{}</code>", part)
            continue
        for text in compile_names().split(part):
            name = text if text in terms else text.removesuffix("s")
            term = terms.pop(name, None)
            yield format_html('<a href="#{}">{}</a>', term.id, text) if term else escape(text)


@cache
def compile_names() -> re.Pattern[str]:
    """Return a pattern that finds each term, in singular or plural; where several terms begin, it finds the longest."""
    names = sorted(read_terms(), key=len, reverse=True)
    return re.compile(rf"\b((?:{'|'.join(map(re.escape, names))})s?)\b")
