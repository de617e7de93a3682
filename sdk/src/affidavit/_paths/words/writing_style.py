"""How an API writes the words of its paths: in capitals or not, with which joint, and in which namespaces."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from affidavit._paths.segment_form import strip_ending

from .qualified_names import is_familiar_inside, is_qualified_name, read_namespace
from .words_of_other_apis import WORD_ORIGINS, find_origin

LEAST_WORDS = 3  # words of the API that must be known before a segment is compared with them
LEAST_NAMES = 3  # so many qualified names with familiar words make their first part a namespace
_HUMP = re.compile(r"[a-z][A-Z]")


class Style:
    """The style in which an API writes the words of its paths: whether in capitals, and which sign joins them.

    A segment counts only if all of its words are words of other APIs. Of qualified names, such as `Lumen.Network`, the
    first part counts: if most begin with the same one, it is a namespace of the API. Names of people, such as
    `Jane.Doe`, have the same form, but begin differently.
    """

    def __init__(self, segments: Iterable[str]) -> None:
        segments = list(segments)
        self._namespaces = Counter(map(read_namespace, filter(is_qualified_name, segments)))
        self._familiar_namespaces = Counter(map(read_namespace, filter(is_familiar_inside, segments)))
        familiar_segments = [
            segment
            for segment in segments
            if find_origin(segment) in WORD_ORIGINS[:4] and not is_qualified_name(segment)
        ]
        self._cases = Counter(map(_name_case, familiar_segments))
        self._joints = Counter(filter(None, map(_read_joint, familiar_segments)))

    def compare(self, segment: str, *, in_namespace: bool) -> Iterator[str]:
        """Yield the signs in the words of a segment, and whether they are written as the API's other words are.

        in_namespace: whether the segment is a qualified name in a namespace of the API: then its capitals say nothing.
        """
        origin, case = find_origin(segment), _name_case(segment)
        if origin is None:
            return
        strange = False
        if in_namespace:
            yield "in a namespace of several names"
            case = ""
        if case and self._cases.total() >= LEAST_WORDS:
            strange = 2 * self._cases[case] < self._cases.total()
            yield "capital letters unlike the words of the API" if strange else "capital letters as words of the API"
        if not strange:
            yield origin
        yield from self._compare_joint(_read_joint(segment))

    def is_in_namespace(self, segment: str) -> bool:
        """Return whether most qualified names begin like this segment, and some go on with words of other APIs."""
        if not is_qualified_name(segment):
            return False
        namespace = read_namespace(segment)
        most = 2 * self._namespaces[namespace] > self._namespaces.total()
        return most and self._familiar_namespaces[namespace] >= LEAST_NAMES

    def _compare_joint(self, joint: str) -> Iterator[str]:
        if joint and self._joints.total() >= LEAST_WORDS:
            if 10 * self._joints[joint] < self._joints.total():
                yield "joined unlike the words of the API"
            elif 2 * self._joints[joint] > self._joints.total():
                yield "joined like the words of the API"


def _name_case(segment: str) -> str:
    stem = strip_ending(segment).strip("_-")
    if not stem[:1].isupper():
        return ""
    return "capitals" if stem.isupper() else "capitalised"


def _read_joint(segment: str) -> str:
    """Return the sign that joins the words of a segment: `-`, `_`, `.`, or `aA` for a capital letter; "" if none."""
    stem = strip_ending(segment).strip("_-")
    joint = next((sign for sign in "-_." if sign in stem), "")
    return joint or ("aA" if _HUMP.search(stem) else "")
