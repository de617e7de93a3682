"""What pages of the catalog read out of an address or a form (pure)."""

from __future__ import annotations

MAX_WORDS = 10


def split_words(query: str) -> list[str]:
    """Return the words of a search, each of which a result must contain, in any case."""
    return query.casefold().split()[:MAX_WORDS]
