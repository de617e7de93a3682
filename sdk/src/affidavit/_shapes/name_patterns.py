"""Compare names of properties in any spelling, and match names with `*` (contract §4)."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_]+")


def normalize_name(name: str) -> str:
    """Return a name as lower-case words: `cardNumber`, `card_number` and `Card-Number` are all `card number`."""
    return " ".join(_WORDS.findall(name)).lower()


class Wildcard:
    """A name in which `*` is any run of characters: `user*Email`. Matching takes linear time for any pattern."""

    def __init__(self, name: str) -> None:
        first, *between, last = map(normalize_name, name.split("*"))
        self._first, self._last = f" {first}", f"{last} "
        self._between = [piece for piece in between if piece]

    def is_in(self, name: str) -> bool:
        """Return whether adjacent words of the name match."""
        return _stand_in_order([self._first, *self._between, self._last], f" {normalize_name(name)} ")

    def is_all_of(self, name: str) -> bool:
        """Return whether the whole name matches."""
        words = f" {normalize_name(name)} "
        inner = words[len(self._first) : -len(self._last)]
        fits = len(words) >= len(self._first) + len(self._last)
        return (
            fits
            and words.startswith(self._first)
            and words.endswith(self._last)
            and _stand_in_order(self._between, inner)
        )


def _stand_in_order(pieces: Sequence[str], text: str) -> bool:
    """Return whether the text contains the pieces in this order, without overlap."""
    start = 0
    for piece in pieces:
        position = text.find(piece, start)
        if position < 0:
            return False
        start = position + len(piece)
    return True
