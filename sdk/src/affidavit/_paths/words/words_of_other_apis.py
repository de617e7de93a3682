"""Whether other APIs have the words of a path segment in their paths: many, several, few or none of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from affidavit._paths.segment_form import strip_ending
from affidavit._shapes.name_words import split_words

from .actions import is_action
from .common_words import FEW, MANY, SEVERAL
from .singulars import singularize

WORD_ORIGINS = (
    "a word of many APIs",
    "a word of several APIs",
    "made of words of many APIs",
    "made of words of several APIs",
    "a word of few APIs",
    "made partly of words of other APIs",
    "made of words that no other API has",
)
"""The signs that say whether other APIs have the words of a segment in paths.

Each segment with words has one of them.
"""
FEW_APIS = WORD_ORIGINS[4]
STRANGE_ORIGINS = frozenset(WORD_ORIGINS[4:])
UNKNOWN_ORIGINS = frozenset(WORD_ORIGINS[5:])

LEAST_PART = 3  # letters of each word in a compound
LEAST_PARTICIPLE = 5  # letters


@lru_cache(maxsize=20_000)
def find_origin(segment: str) -> str | None:
    """Return which of `WORD_ORIGINS` is true of a segment; None if it has no words."""
    words = [singularize(word) for word in split_words(strip_ending(segment)) if not word.isdigit()]
    if not words:
        return None
    if all(word in MANY for word in words):
        return WORD_ORIGINS[2 if len(words) > 1 else 0]
    if all(map(_is_common, words)):
        return WORD_ORIGINS[3 if len(words) > 1 else 1]
    if len(words) == 1 and _is_participle(words[0]):
        return WORD_ORIGINS[1]
    if len(words) == 1 and (words[0] in FEW or _is_compound(words[0])):
        return WORD_ORIGINS[4]
    return WORD_ORIGINS[5 if any(map(_is_common, words)) else 6]


def _is_common(word: str) -> bool:
    return word in MANY or word in SEVERAL


def _is_participle(word: str) -> bool:
    """Return whether a word is the participle of a common word or of an action: `archived`, `tagged`."""
    return any(_is_common(verb) or is_action(verb) for verb in _list_verbs(word))


def _list_verbs(word: str) -> Iterator[str]:
    """Yield the texts whose participle a word may be: `tagged` -> `tagge`, `tagg` and `tag`; few of them are verbs."""
    if len(word) < LEAST_PARTICIPLE or not word.endswith("ed"):
        return
    yield word[:-1]
    yield word[:-2]
    if word[-3] == word[-4]:
        yield word[:-3]
    if word[-3] == "i":
        yield f"{word[:-3]}y"


def _is_compound(word: str) -> bool:
    """Return whether a word is two common words without a joint: `usergroup`, `userid`."""
    parts = ((word[:index], word[index:]) for index in range(LEAST_PART, len(word) - 1))
    return any(
        _is_common(first) and _is_common(last) and (len(last) >= LEAST_PART or last == "id") for first, last in parts
    )
