"""Compare names of properties in any spelling, and match names with `*` (contract §4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from .name_words import split_words


def normalize_name(name: str) -> str:
    """Return a name as lower-case words: `cardNumber`, `card_number` and `Card-Number` are all `card number`."""
    return " ".join(split_words(name))


class NameIndex:
    """Names that are looked up in other names, in a time that does not grow with their number."""

    def __init__(self, names: Iterable[str]) -> None:
        self._breaks: dict[str, list[frozenset[int]]] = {}
        self._max_words = 0
        for words in {tuple(normalize_name(name).split()) for name in names}:
            self._breaks.setdefault("".join(words), []).append(frozenset(accumulate(map(len, words[:-1]))))
            self._max_words = max(self._max_words, len(words))
        self._beginnings = {text[:length] for text in self._breaks for length in range(1, len(text) + 1)}

    def is_in(self, words: Sequence[str]) -> bool:
        """Return whether adjacent words are one of the names: `api key` is also `apikey`, `api keys` and `apikeys`.

        So is the plural of a name on -s, as `addresses`, and on -y, as `salaries`.

        Nothing that begins with `tokens` is, because that is mostly a count.
        """
        return any(
            self._begins_at(words[start : start + self._max_words])
            for start, word in enumerate(words)
            if word != "tokens"
        )

    def _begins_at(self, words: Sequence[str]) -> bool:
        text, breaks = "", set[int]()
        for word in words:
            text += word
            if any(self._holds(singular, breaks) for singular in _list_singulars(text)):
                return True
            if text not in self._beginnings:
                return False  # no longer text is a name either
            breaks.add(len(text))
        return False

    def _holds(self, text: str, breaks: set[int]) -> bool:
        """Return whether `text` is one of the names, with no break between words where that name has none."""
        return text in self._breaks and any(breaks <= own_breaks for own_breaks in self._breaks[text])


def _list_singulars(text: str) -> Iterator[str]:
    """Yield the text, and the names of which it may be the plural."""
    yield text
    if text.endswith("s"):
        yield text[:-1]
    if text.endswith(("ses", "xes", "zes", "ches", "shes")):
        yield text[:-2]
    if text.endswith("ies"):
        yield f"{text[:-3]}y"


class Wildcard:
    """A name in which `*` is any run of characters: `user*Email`. Matching takes linear time for any pattern."""

    def __init__(self, name: str) -> None:
        first, *between, last = map(normalize_name, name.split("*"))
        self._first, self._last = f" {first}", f"{last} "
        self._between = [piece for piece in between if piece]

    def is_in(self, words: str) -> bool:
        """Return whether adjacent words of a name match.

        words: the name as `normalize_name` returns it, between two spaces. So it is normalized once for all wildcards.
        """
        is_possible = self._first in words and self._last in words  # of many wildcards, hardly one passes this
        return is_possible and _stand_in_order([self._first, *self._between, self._last], words)

    def is_all_of(self, words: str) -> bool:
        """Return whether the whole name matches; see `is_in`."""
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
