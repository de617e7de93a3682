"""The page of the glossary: the words of docs/glossary.md that pages use, with their meanings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.http import HttpRequest
from django.utils.safestring import SafeString

from hub.glossary.links import link_terms
from hub.glossary.terms import Term, read_terms
from intents.rejections.order_of_checks import list_checks
from wire.table_exports import Table
from wire.time.period import Period
from workspaces.models import Environment
from workspaces.pages.page import Page

TERM_COLUMNS = ("term", "meaning")
CHECK_COLUMNS = ("position", "check", "meaning", "reasons")


@dataclass(frozen=True)
class Entry:
    """The terms of one meaning, and the meaning as HTML."""

    terms: Sequence[Term]
    meaning: SafeString


def show_glossary(request: HttpRequest, environment: Environment, period: Period) -> Page:
    tables = [
        Table("terms", TERM_COLUMNS, iterate_terms),
        Table("checks", CHECK_COLUMNS, iterate_checks),
    ]
    return Page("hub/glossary.html", build_context, tables, has_period=False)


def iterate_terms() -> Iterator[Sequence[Any]]:
    return ((term.name, term.meaning) for term in read_terms().values())


def iterate_checks() -> Iterator[Sequence[Any]]:
    for check in list_checks():
        yield check.position, check.name, check.title, " ".join(reason.slug for reason in check.reasons)


def build_context() -> Mapping[str, Any]:
    """Return the entries of each part of the glossary, in alphabetical order."""
    parts = groupby(read_terms().values(), key=lambda term: term.heading)
    return {"parts": [(heading, list_entries(terms)) for heading, terms in parts], "checks": list_checks()}


def list_entries(terms: Iterable[Term]) -> list[Entry]:
    """Return one entry for each meaning, with its terms in alphabetical order."""
    groups: dict[str, list[Term]] = {}
    for term in sorted(terms, key=lambda term: term.name.lower()):
        groups.setdefault(term.marked_meaning, []).append(term)
    return [
        Entry(group, SafeString("".join(link_terms(meaning, [term.name for term in group]))))
        for meaning, group in groups.items()
    ]
