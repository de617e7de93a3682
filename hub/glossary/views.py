"""The page of the glossary: every word of docs/glossary.md with its meaning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from django.http import HttpRequest

from hub.glossary.terms import Term, read_terms
from wire.period import Period
from wire.table_exports import Table
from workspaces.models import Environment
from workspaces.page import Page

COLUMNS = ("term", "meaning")


def show_glossary(request: HttpRequest, environment: Environment, period: Period) -> Page:
    return Page("hub/glossary.html", build_context, [Table("terms", COLUMNS, iterate_terms)], has_period=False)


def iterate_terms() -> Iterator[Sequence[Any]]:
    return ((term.name, term.meaning) for term in read_terms().values())


def build_context() -> Mapping[str, Any]:
    """Return the entries of each part of the glossary, in alphabetical order."""
    parts = groupby(read_terms().values(), key=lambda term: term.heading)
    return {"parts": [(heading, list_entries(terms)) for heading, terms in parts]}


def list_entries(terms: Iterable[Term]) -> list[Sequence[Term]]:
    """Group the terms with the same meaning into one entry, each in alphabetical order."""
    entries: dict[str, list[Term]] = {}
    for term in sorted(terms, key=lambda term: term.name.lower()):
        entries.setdefault(term.meaning, []).append(term)
    return list(entries.values())
