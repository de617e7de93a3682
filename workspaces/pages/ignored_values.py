"""The values of the address that a page ignores, and how it says so. An export refuses the same values."""

from __future__ import annotations

from collections.abc import Mapping

from django.http import QueryDict
from django.utils.text import Truncator

from wire.address_members import PERIOD_MEMBERS, read_text, read_texts
from wire.format_numbers import count_noun
from wire.text.search_words import MAX_SEARCH_WORDS, read_search_words, split_search
from workspaces.pages.page import Page

MAX_QUOTED = 60  # characters of a value that a page quotes


def find_unknown_values(page: Page, address: Mapping[str, str]) -> Mapping[str, str]:
    """Return the members of the address whose value the page does not take; a long value is cut."""
    values = {name: value for name in page.takes if (value := read_text(address, name))}
    return {name: Truncator(value).chars(MAX_QUOTED) for name, value in values.items() if not page.takes[name](value)}


def find_limited_values(page: Page, address: QueryDict) -> Mapping[str, list[str] | str]:
    """Return the members of the address with more values or words than the page takes, each with those it takes."""
    values = {name: read_texts(address, name) for name in page.limits}
    single_values = {name: read_texts(address, name) for name in (*PERIOD_MEMBERS, *page.takes, *page.searches)}
    searches = {name: read_text(address, name) for name in page.searches}
    return {
        **{name: texts[: page.limits[name]] for name, texts in values.items() if len(texts) > page.limits[name]},
        **{name: texts[-1:] for name, texts in single_values.items() if len(texts) > 1 and name not in page.limits},
        **{
            name: " ".join(read_search_words(search))
            for name, search in searches.items()
            if len(split_search(search)) > MAX_SEARCH_WORDS
        },
    }


def find_lone_values(page: Page, address: QueryDict) -> Mapping[str, list[str]]:
    """Return the members of the address with fewer different values than they need, each with an empty list."""
    counts = {name: len(read_texts(address, name)) for name in page.minimums}
    return {name: [] for name, count in counts.items() if 0 < count < page.minimums[name]}


def describe_limits(page: Page, limited_values: Mapping[str, list[str] | str]) -> str:
    """Say how much the page takes of the members that `find_limited_values` returned; "" if there are none."""
    limits = (
        f"{f'{MAX_SEARCH_WORDS} words' if isinstance(part, str) else count_noun(len(part), 'value')} of {name}"
        for name, part in limited_values.items()
    )
    return f"This page takes at most {' and '.join(limits)}." if limited_values else ""
