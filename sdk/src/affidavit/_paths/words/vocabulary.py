"""The words of an API as its property names have them. A path segment that is one of them is no value of its users.

Only names of properties are kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from affidavit._shapes.name_words import split_words

from .singulars import singularize

MAX_PHRASES = 200_000
LONGEST_PHRASE = 3  # words


class Vocabulary:
    """Phrases of one to three words out of property names, in the singular."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._phrases: set[str] = set()

    def add(self, name: str) -> None:
        """Take in one property name that is not data."""
        if name in self._names or len(self._phrases) > MAX_PHRASES:
            return
        self._names.add(name)
        parts, capital = split_words(name), name[:1].isupper()
        for first in range(len(parts)):
            for last in range(first, min(first + LONGEST_PHRASE, len(parts))):
                self._phrases.add(_join_phrase(parts[first : last + 1], capital=capital))

    def __contains__(self, segment: str) -> bool:
        """Return whether a decoded segment is one of the phrases, in singular or plural. An initial capital counts."""
        return _join_phrase(split_words(segment), capital=segment[:1].isupper()) in self._phrases

    def knows_word(self, word: str) -> bool:
        """Return whether a lower-case word is part of a property name that begins without a capital letter."""
        return singularize(word) in self._phrases


def _join_phrase(parts: Sequence[str], *, capital: bool) -> str:
    """Return a phrase as one text. `Orders` and `orders` differ, since names that users gave are often capitalised."""
    return " ".join([*("^" if capital else ""), *parts[:-1], *map(singularize, parts[-1:])])
