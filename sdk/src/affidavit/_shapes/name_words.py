"""Split a name into its words, in whatever way it joins them."""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_]+")


def split_words(name: str) -> list[str]:
    """Split a name into lower-case words: `cardNumber`, `card_number` and `Card-Number` are all `card`, `number`."""
    return [word.lower() for word in _WORD.findall(name)]
