"""Read descriptors fast that differ only in their counts: one is read, then other counts are put into the result.

A template is the result of reading a descriptor with marks in place of its counts. It holds for every descriptor that
differs only in its counts, if these have the same order from the smallest to the largest. This is so because reading
only compares counts, and subtracts one from another (`seen` less `nulls`). The form of a descriptor is its text without
its counts. A form whose counts are used otherwise has no template.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence, Set
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

from affidavit import from_descriptor, parse_json

MAX_REMEMBERED_FORMS = 2000  # in each process
HALF_DEPTH = 64  # of the 128 levels that a body may have
# A count as it is nearly always written. Any other number stays part of the form, and gets no mark.
_COUNT = re.compile(rb'("(?:seen|nulls)":[ \t\r\n]*)(0|[1-9][0-9]{0,14})(?=[,}\s])')
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9]+')
_MARKS = random.SystemRandom()  # random, so that nobody can send a text that looks like a mark


class Shape(NamedTuple):
    """A descriptor as it is stored: the state of its evidence as JSON, with 0 for the days on which it was seen.

    seen: the count of its root.
    """

    state: str
    seen: int


class _Template(NamedTuple):
    """The stored text of shapes with marks in place of their counts.

    The rank of a count is its place in the order of the counts from the smallest to the largest.

    text: the state with %d for each count.
    seen: the rank of the root's count.
    pairs: the ranks of each two counts whose difference is in the state.
    value_indexes: which number to put for each %d: an index into a list, which has first the counts in the order of
        their ranks, then the differences of the pairs.
    """

    text: str
    seen: int
    pairs: Sequence[tuple[int, int]]
    value_indexes: Sequence[int]


def read_shape(descriptor: Any, count: int) -> Shape:
    """Return the shape of a descriptor. Raises ValueError if it is not a valid descriptor."""
    evidence = from_descriptor(descriptor, seen=count)
    evidence.stamp(0)
    return Shape(json.dumps(evidence.to_state(), separators=(",", ":")), evidence.seen)


def fill_template(text: bytes) -> Shape | None:
    """Return the shape of a descriptor from the template of its form; None if it has none."""
    pieces = _COUNT.split(text)
    counts = list(map(int, pieces[2::3]))
    if not counts or b"\0" in text:
        return None
    pieces[2::3] = [b"\0"] * len(counts)
    distinct = sorted({0, *counts})
    ranks = {count: rank for rank, count in enumerate(distinct)}
    template = _make_template(b"".join(pieces), tuple([ranks[count] for count in counts]))
    if template is None:
        return None
    values = [*distinct, *(distinct[more] - distinct[less] for more, less in template.pairs)]
    return Shape(template.text % tuple([values[number] for number in template.value_indexes]), distinct[template.seen])


@lru_cache(MAX_REMEMBERED_FORMS)
def _make_template(form: bytes, ranks: tuple[int, ...]) -> _Template | None:
    """Return the template of a form with NUL in place of each count. `ranks` has each count's rank; 0 has rank 0."""
    marks = [0, *sorted(_MARKS.sample(range(2**48, 2**50), max(ranks)))]
    counts = iter([b"%d" % marks[rank] for rank in ranks])
    text = re.sub(rb"\0", lambda match: next(counts), form)
    try:
        descriptor = parse_json(text, max_depth=HALF_DEPTH)
        if not isinstance(descriptor, dict) or "seen" not in descriptor or not _is_plain(descriptor, set(marks)):
            return None
        return _find_marks(read_shape(descriptor, 0), marks)
    except ValueError:
        return None  # whoever reads the descriptor itself says what is wrong


def _is_plain(value: Any, marks: Set[int]) -> bool:
    """Return whether all numbers within a value are marks, and are compared only with marks.

    If a value has `types`, or can be null and contains other values, its counts are added or subtracted before they are
    compared; marks would then compare differently from counts.
    """
    match value:
        case bool() | str() | None:
            return True
        case {"types": _} | {"nulls": _, "properties": _} | {"nulls": _, "values": _} | {"nulls": _, "items": _}:
            return False
        case dict():
            return all(_is_plain(inner, marks) for inner in value.values())
        case list():
            return all(_is_plain(inner, marks) for inner in value)
    return isinstance(value, int) and value in marks


def _find_marks(shape: Shape, marks: Sequence[int]) -> _Template | None:
    """Return the shape as a template, without its counts.

    Return None if a count is neither a mark nor the difference of two marks.
    """
    differences = {marks[more] - marks[less]: (more, less) for less, more in combinations(range(1, len(marks)), 2)}
    numbers = {mark: rank for rank, mark in enumerate(marks)}
    pairs: list[tuple[int, int]] = []
    value_indexes: list[int] = []

    def leave_out(match: re.Match[str]) -> str:
        token = match[0]
        if token.startswith('"'):
            return token.replace("%", "%%")
        number = int(token)
        if number not in numbers:
            pairs.append(differences[number])
            numbers[number] = len(numbers)
        value_indexes.append(numbers[number])
        return "%d"

    try:
        return _Template(_TOKEN.sub(leave_out, shape.state), numbers[shape.seen], pairs, value_indexes)
    except KeyError:
        return None
