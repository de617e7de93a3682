"""Texts that a page's address filters by."""

from __future__ import annotations

from collections.abc import Mapping

MAX_SEARCH_WORDS = 10


def read_text(query: Mapping[str, str], name: str) -> str:
    """Return one member of an address as text that PostgreSQL takes, empty where it is missing."""
    return strip_nul(query.get(name, ""))


def strip_nul(text: str) -> str:
    """Remove NUL characters: no stored text holds one, and PostgreSQL refuses them."""
    return text.replace("\0", "")


def split_words(search: str) -> list[str]:
    """Return the words of a search in lower case; each must match. Only the first ten count."""
    return search.casefold().split()[:MAX_SEARCH_WORDS]
