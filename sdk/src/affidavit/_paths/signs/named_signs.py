"""The signs that code knows by their names; all others are only counted and weighed."""

from __future__ import annotations

PLACED_SIGNS = frozenset({
    "data follows", "words follow", "several words follow", "nothing follows", "is changed or deleted",
    "word of a property name",    "no word of a property name", "value of an identifying property of its own exchange",
    "value of an identifying property right before", "value of an identifying property elsewhere", "has a hyphen",
    "a plural", "echoed in another place", "alone", "values beside it", "data beside it", "words beside it",
    "more data than words beside it", "more unsure than words beside it", "far more words than data beside it",
    "goes on as others beside it do", "reads like a domain", "reads like a qualified name",
    "very many words beside it", "several unsure beside it", "many unsure beside it", "one of very many strange words",
    "a word of many APIs", "a word of several APIs", "made of words of many APIs", "made of words of several APIs",
    "a word of few APIs", "made partly of words of other APIs", "made of words that no other API has",
    "nothing follows a word that no other API has", "most paths go through it", "a tenth of all paths goes through it",
})  # fmt: skip
"""Signs whose meaning depends on the place: at the beginning, behind data or behind a word."""

NEVER_SEEN = "never seen here"
"""Every segment that is judged in a recording was seen in it, so no weight of this sign can be fitted."""

KNOWN_WORDS = frozenset({"word of a property name", "an action"})

OWN_IDENTITY = "value of an identifying property of its own exchange"

UNLIKE_DATA = "answers unlike the data beside it"

OWN_VALUES = frozenset({OWN_IDENTITY, "value of a property of its own exchange"})

FOREIGN_CAPITALS = frozenset({"in capitals", "capital letters unlike the words of the API"})
