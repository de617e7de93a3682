"""What a page is: its template, its context, its tables, and the members of the address that it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, QueryDict
from django.utils.text import Truncator

from wire.filters import read_text, read_texts
from wire.search_words import MAX_SEARCH_WORDS, read_search_words, split_search
from wire.table_exports import Table
from wire.time.period import Period
from workspaces.models import Environment

MAX_QUOTED = 60  # characters of a value that a page quotes


@dataclass(frozen=True)
class Page:
    """The content of a page. `context` is called for HTML only, `tables` are read for exports only.

    partial: the template for htmx requests, if it differs.
    takes: for members of the address (`name=value`), by name, a function that returns something true for an allowed
        value. The page says that it ignores any other value; an export refuses it. Members that are not in `takes`
        may have any value.
    limits: for members that may be repeated, by name, how many values the page takes. The page says that it ignores
        the others; an export refuses them.
    searches: the members that are searched for word by word. The page says that it ignores words beyond
        MAX_SEARCH_WORDS; an export refuses them.
    has_period: whether the page depends on the chosen period.
    holds_secrets: whether the page shows a secret, so that browsers must not store it.
    """

    template: str
    context: Callable[[], Mapping[str, Any]]
    tables: Sequence[Table] = ()
    partial: str = ""
    takes: Mapping[str, Callable[[str], object]] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    searches: Sequence[str] = ()
    has_period: bool = True
    holds_secrets: bool = False

    def find_unknown(self, address: Mapping[str, str]) -> Mapping[str, str]:
        """Return the members of the address whose value the page does not take; a long value is cut."""
        values = {name: value for name in self.takes if (value := read_text(address, name))}
        return {
            name: Truncator(value).chars(MAX_QUOTED) for name, value in values.items() if not self.takes[name](value)
        }

    def find_cut(self, address: QueryDict) -> Mapping[str, list[str] | str]:
        """Return the members of the address of which the page takes a part only, each with that part."""
        values = {name: read_texts(address, name) for name in self.limits}
        searches = {name: read_text(address, name) for name in self.searches}
        return {
            **{name: texts[: self.limits[name]] for name, texts in values.items() if len(texts) > self.limits[name]},
            **{
                name: " ".join(read_search_words(search))
                for name, search in searches.items()
                if len(split_search(search)) > MAX_SEARCH_WORDS
            },
        }

    def describe_cut(self, cut: Mapping[str, list[str] | str]) -> str:
        """Say how much the page takes of the members that `find_cut` returned; "" if there are none."""
        limits = (
            f"{MAX_SEARCH_WORDS} words of {name}" if name in self.searches else f"{len(part)} values of {name}"
            for name, part in cut.items()
        )
        return f"This page takes at most {' and '.join(limits)}." if cut else ""


View = Callable[[HttpRequest, Environment, Period], Page]
