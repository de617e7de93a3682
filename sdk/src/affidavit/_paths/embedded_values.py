"""Values inside a path segment: `Customers('anna')`, `parcels;owner=anna`. They are data whatever they look like.

OData puts keys in brackets. RFC 3986 (3.3) names `;` and `=` for parameters of one segment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

_NAME = re.compile(r";[^;=()]*=")
_OPENING = re.compile(rf"\(|{_NAME.pattern}")
_ENCODED = re.compile(r"%(?:27|28|29|3[BDbd])")


class Inside(NamedTuple):
    """A value inside a segment, and the text behind it, up to the next value.

    opening: `(`, or `;name=`.
    closing: `)`, or nothing.
    """

    opening: str
    value: str
    closing: str
    rest: str

    @property
    def name(self) -> str:
        """Return the name of a value that is not in brackets."""
        return self.opening.strip(";=(")


def replace_values(segment: str, replace: Callable[[str, str], str]) -> str:
    """Return a raw segment with `replace(name, value)` in place of each value inside it.

    name: the text before the value, which names it. The quotes of a text in brackets stay.
    """
    if not ("(" in segment or ";" in segment or "%" in segment):
        return segment
    plain = _ENCODED.sub(lambda match: unquote(match[0]), segment)
    head, parts = split_segment(plain)
    if not any(part.value for part in parts):
        return segment

    def replace_part(part: Inside) -> str:
        name, value, quote = part.name or head, part.value, ""
        if part.opening == "(" and len(value) > 1 and value[0] == value[-1] == "'":
            quote, value = "'", value.strip("'")
        replacement = f"{quote}{replace(name, value)}{quote}" if part.value else ""
        return f"{part.opening}{replacement}{part.closing}{part.rest}"

    return head + "".join(map(replace_part, parts))


def strip_values(segment: str) -> str:
    """Return the part of a decoded segment before the first value inside it: `Customers('anna')` -> `Customers`."""
    return split_segment(segment)[0] or segment


def split_segment(segment: str) -> tuple[str, list[Inside]]:
    """Return the text before the first value inside a plain segment, and the values. It takes linear time."""
    opening = _OPENING.search(segment)
    return (segment, []) if opening is None else (segment[: opening.start()], list(_list_values(segment, opening)))


def _list_values(segment: str, opening: re.Match[str] | None) -> Iterator[Inside]:
    """Yield the values, from the first one on.

    A value may hold brackets and `;`. So brackets end with the last `)`, and a value with a name before the next name.
    """
    while opening is not None:
        start = opening.end()
        closing = segment.rfind(")", start) if opening[0] == "(" else -1
        following = _NAME.search(segment, max(start, closing))
        limit = following.start() if following else len(segment)
        if closing < 0:
            yield Inside(opening[0], segment[start:limit], "", "")
        else:
            yield Inside(opening[0], segment[start:closing], ")", segment[closing + 1 : limit])
        opening = following
