"""The words of a search, each of which must match (pure)."""

from __future__ import annotations

MAX_SEARCH_WORDS = 10


def split_search(search: str) -> list[str]:
    """Return all words of a search, in lower case."""
    return search.casefold().split()


def read_search_words(search: str) -> list[str]:
    """Return the words by which a page searches: the first MAX_SEARCH_WORDS. The page says if there are more."""
    return split_search(search)[:MAX_SEARCH_WORDS]
