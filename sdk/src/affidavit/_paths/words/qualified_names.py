"""Names such as `Lumen.Network`: words in PascalCase joined by dots. The first may be a namespace of the API."""

from __future__ import annotations

import re

from .words_of_other_apis import WORD_ORIGINS, find_origin

_QUALIFIED = re.compile(r"[A-Z]+[a-z][A-Za-z0-9]*(?:\.[A-Z]+[a-z][A-Za-z0-9]*)+")


def is_qualified_name(text: str) -> bool:
    """Return whether a text is words in PascalCase joined by dots: `Lumen.Network`, but also `Jane.Doe`."""
    return _QUALIFIED.fullmatch(text) is not None


def is_familiar_inside(text: str) -> bool:
    """Return whether a text is a qualified name that has words of other APIs behind its first part."""
    return is_qualified_name(text) and find_origin(text.partition(".")[2]) in WORD_ORIGINS[:4]


def read_namespace(name: str) -> str:
    return name.partition(".")[0]
