"""The names of parameters in path templates: each is named after the last word before it (contract §4).

`/orders/17/lines/3` -> `orderId`, `lineId`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote

from .versions import is_scaffold, is_written_as_version
from .words.singulars import singularize

PARAMETER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}")
_LATIN_WORD = re.compile(r"[A-Za-z0-9]+")

MAX_NAME = 80  # characters of a parameter's name before `Id`


class ParameterNamer:
    """Names parameters after the last word before them, in one pass from left to right; no name twice."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        """Begin with the parameter names that the path has already."""
        self._names = set(names)
        self._numbers: dict[str, int] = {}
        self._base = "id"

    def pass_literal(self, segment: str) -> None:
        """Name the next parameters after this literal segment, if a name can be made from it."""
        self._base = _name_after(segment) or self._base

    def name_parameter(self) -> str:
        """Return a new name: `orderId` after `orders`; `orderId2` if that is in use."""
        name, number = self._base, self._numbers.get(self._base, 2)
        while name in self._names:
            name, number = f"{self._base}{number}", number + 1
        self._numbers[self._base] = number
        self._names.add(name)
        return name


def _name_after(segment: str) -> str | None:
    """Name a parameter after a segment: `user_groups` -> `userGroupId`; None if the segment names nothing."""
    words = _LATIN_WORD.findall(unquote(segment))
    if not words or PARAMETER.fullmatch(segment) or is_scaffold(segment) or is_written_as_version(segment):
        return None
    words = list(map(_lower_capitals, words))
    words[-1] = _lower_capitals(singularize(words[-1]))
    name = "".join(word[0].upper() + word[1:] for word in words)[:MAX_NAME]
    return (name[0].lower() if name[0].isalpha() else f"_{name[0]}") + name[1:] + "Id"


def _lower_capitals(word: str) -> str:
    """Return a word in capitals in small letters: `COMPANY` -> `company`; any other as it is."""
    return word.lower() if word.isupper() else word
