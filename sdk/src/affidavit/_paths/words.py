"""Split names into words, find their singular, and read the kind of values that a name promises."""

from __future__ import annotations

import re
from enum import IntFlag
from functools import lru_cache

_TEXT_SIGN = re.compile(r'[\s"<>\\^`{|}]')
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_]+")

_ENUMERATIONS = frozenset({
    "action", "aggregation", "category", "class", "color", "currency", "direction", "engine", "entity",
    "event", "format", "icon", "kind", "language", "level", "locale", "method", "mode", "operation",
    "operator", "order", "permission", "priority", "protocol", "reason", "rel", "resource", "result", "role",
    "scope", "severity", "sort", "source", "state", "status", "type", "unit", "verb", "visibility",
})  # fmt: skip
_IDENTITIES = frozenset({
    "branch", "code", "domain", "email", "guid", "handle", "host", "hostname", "id", "identifier", "key", "label",
    "login", "name", "number", "path", "ref", "repo", "repository", "sha", "sku", "slug", "tag", "title", "uid", "user",
    "username", "uuid",
})  # fmt: skip


_IRREGULAR = {
    "aliases": "alias", "analyses": "analysis", "analytics": "analytics", "cookies": "cookie", "dns": "dns",
    "movies": "movie", "news": "news", "people": "person", "series": "series", "sms": "sms", "species": "species",
    "statuses": "status",
}  # fmt: skip


LEAST_IN_SENTENCE = 8
"""So many words in one segment are a sentence, such as a title. A name in a path of 700 APIs has at most 7."""


class Reading(IntFlag):
    """The kind of values that the name of a property promises."""

    ENUMERATION = 1  # one of a few values, such as `status`
    OTHER = 2
    IDENTITY = 4  # identifies one thing, such as `name`
    RELATED = 8  # named after the segment before the value, such as `user` in `/users/anna`


def split_words(name: str) -> list[str]:
    """Split a name into lower-case words: `cardNumber`, `card_number` and `Card-Number` are all `card`, `number`."""
    return [word.lower() for word in _WORD.findall(name)]


def is_sentence(segment: str) -> bool:
    """Return whether a segment is a text in words, such as a title: `how-to-build-a-house-in-three-days`.

    A space, a quote or another sign that no path may hold unencoded is part of texts only: `My report`, `<account>`.
    """
    words = sum(any(map(str.isalpha, word)) for word in re.split("[-_+]", segment))
    return words >= LEAST_IN_SENTENCE or _TEXT_SIGN.search(segment) is not None


def singularize(word: str) -> str:
    """Return the singular by simple rules: `policies` -> `policy`, `boxes` -> `box`; `status` and `news` stay."""
    lower = word.lower()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower] if word.islower() else _IRREGULAR[lower].capitalize()
    if lower.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if lower.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if lower.endswith("s") and not lower.endswith(("ss", "us", "is")) and len(word) > 2:
        return word[:-1]
    return word


@lru_cache(maxsize=20_000)
def read_name(name: str) -> Reading:
    """Return what the last word of a name promises: `event_name` and `eventname` hold a name, `nameFormat` does not."""
    parts = split_words(name)
    last = singularize(parts[-1]) if parts else ""
    if last in _IDENTITIES or last.endswith("name"):
        return Reading.IDENTITY
    return Reading.ENUMERATION if last in _ENUMERATIONS else Reading.OTHER
