"""The words of docs/glossary.md and their meanings, as pages explain them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from django.conf import settings

HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
CODE_HEADING = "Words of the code and its log"  # for people who change or operate the hub: no page uses these words
ROW = re.compile(r"^\| (?!word )([^|]+) \| ([^|]+) \|", re.MULTILINE)


@dataclass(frozen=True)
class Term:
    """A word and its meaning.

    marked_meaning: the meaning with code in backticks.
    heading: the heading of its part of the glossary.
    """

    name: str
    marked_meaning: str
    heading: str

    @property
    def meaning(self) -> str:
        return self.marked_meaning.replace("`", "")

    @property
    def title(self) -> str:
        """Return the name as a heading; names of code and abbreviations stay as they are."""
        return self.name if re.search("[A-Z0-9]", self.name) else self.name[:1].upper() + self.name[1:]

    @property
    def id(self) -> str:
        """Return the fragment of the address that leads to the term on the page Glossary."""
        return f"term-{re.sub(r'[^A-Za-z0-9]+', '-', self.name)}"


@cache
def read_terms() -> Mapping[str, Term]:
    """Return the terms that pages use, by name.

    Several terms can share a row, with a meaning for each of them or one meaning for all.
    """
    text = (settings.BASE_DIR / "docs/glossary.md").read_text()
    _, *parts = HEADING.split(text)
    parts_by_heading = dict(zip(parts[::2], parts[1::2], strict=True))
    del parts_by_heading[CODE_HEADING]
    return {term.name: term for heading, part in parts_by_heading.items() for term in _parse(heading, part)}


def _parse(heading: str, part: str) -> Iterator[Term]:
    for words, meaning in ROW.findall(part):
        names = [re.sub(r" \(.*\)", "", word) for word in words.replace("`", "").split(", ")]
        meanings = meaning.split("; ")
        if len(meanings) != len(names):
            meanings = [meaning] * len(names)
        yield from (Term(name, meaning, heading) for name, meaning in zip(names, meanings, strict=True))
