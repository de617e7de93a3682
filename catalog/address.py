"""What pages of the catalog read out of an address or a form (pure)."""

from __future__ import annotations

from collections.abc import Mapping

MAX_WORDS = 10


def read_text(members: Mapping[str, str], name: str) -> str:
    """Return a member as text, "" where it is missing; without NUL, which PostgreSQL does not take."""
    return members.get(name, "").replace("\0", "")


def split_words(query: str) -> list[str]:
    """Return the words of a search, each of which a result must contain, in any case."""
    return query.casefold().split()[:MAX_WORDS]
