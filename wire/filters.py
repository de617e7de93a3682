"""Texts that a page's address filters by."""

from __future__ import annotations

from collections.abc import Mapping

MAX_SEARCH_WORDS = 10
MAX_DIGITS = 18  # of the number of a row


def read_text(query: Mapping[str, str], name: str) -> str:
    """Return one member of an address as text that PostgreSQL takes, empty where it is missing."""
    return strip_nul(query.get(name, ""))


def read_number(query: Mapping[str, str], name: str) -> int | None:
    """Return one member of an address as the number of a row; None unless it is one."""
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else None


def strip_nul(text: str) -> str:
    """Remove NUL characters: no stored text holds one, and PostgreSQL refuses them."""
    return text.replace("\0", "")


def split_words(search: str) -> list[str]:
    """Return the words of a search in lower case; each must match. Only the first ten count."""
    return search.casefold().split()[:MAX_SEARCH_WORDS]
