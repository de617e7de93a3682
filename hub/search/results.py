"""The results of a search as a page shows them (pure): grouped by kind, with the matching part of each title marked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

from wire.text.invisible_characters import escape_invisible

MAX_RESULTS = 8  # results of each kind

Piece = tuple[str, bool]
"""A part of a text, and whether it matches the search."""


@dataclass(frozen=True)
class SearchResult:
    """One result.

    page, members: the page that it leads to, and the members of that address.
    title: its title, with the match marked.
    detail: a text that distinguishes results with equal titles.
    environment: the name of the environment that it leads to, "" for the one that is searched.
    fragment: the place on the page, "" for its top.
    """

    page: str
    title: Sequence[Piece]
    members: Mapping[str, str] = field(default_factory=dict)
    detail: str = ""
    method: str = ""
    path: str = ""
    type: str = ""
    tag: str = ""
    environment: str = ""
    fragment: str = ""

    @property
    def main_type(self) -> str:
        """Return the first word of the type, by which it is coloured."""
        return self.type.split()[0]

    @property
    def pieces(self) -> Sequence[Piece]:
        """Return the pieces of the title as the page writes them: characters that cannot be seen are codes."""
        return [(escape_invisible(piece), is_match) for piece, is_match in self.title]

    @property
    def text(self) -> str:
        return "".join(piece for piece, _ in self.title)

    @property
    def has_period(self) -> bool:
        """Return whether the result's link names a period, which replaces the period of the search."""
        return "from" in self.members or "range" in self.members

    @property
    def query(self) -> str:
        """Return the query and the fragment of the address; "" without any."""
        query = f"?{urlencode(self.members)}" if self.members else ""
        return f"{query}#{self.fragment}" if self.fragment else query


@dataclass(frozen=True)
class ResultGroup:
    """The results of one kind.

    has_more: whether there are more results.
    page, members: the page with all of them, and the members of its address; page is "" if there is none.
    """

    kind: str
    results: Sequence[SearchResult]
    has_more: bool = False
    page: str = ""
    members: Mapping[str, str] = field(default_factory=dict)

    @property
    def query(self) -> str:
        return f"?{urlencode(self.members)}" if self.members else ""


def mark_matches(text: str, needle: str) -> list[Piece]:
    """Split a text at the matches of the search text, whatever their case."""
    if not needle:
        return [(text, False)]
    pieces = re.split(f"({re.escape(needle)})", text, flags=re.IGNORECASE)
    return [(piece, bool(number % 2)) for number, piece in enumerate(pieces) if piece]


def mark_prefix(text: str, prefix: str) -> list[Piece]:
    """Split a text after its first characters, which were searched for."""
    pieces = [(text[: len(prefix)], True), (text[len(prefix) :], False)]
    return [piece for piece in pieces if piece[0]]
