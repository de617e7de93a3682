"""The tree of the paths that were seen, with the signs that stand beside each segment.

Segments that are data by their form share one branch and leave no text; only words are kept as they are.
Whatever the order of arrival, the same exchanges make the same tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from affidavit._shapes.data_like import form

from .templates import is_scaffold, may_be_version
from .value_index import bounded
from .words import Reading

MAX_WORDS = 500  # different words in one place; no API has so many, so all of them are data
MAX_DATA = 8  # how many different data segments are told apart; more are as good as these

NONE = Reading(0)


class Place:
    """Where a path goes on or ends. words: branches by segment, decoded. data: the one of all data.

    echoed: how the properties read whose value, in the same exchange, was the segment that leads here.
    held: how those read whose value, by hash, stood in an exchange that ended here. shapes: of such
    exchanges by method; empty where there was no JSON.
    """

    __slots__ = ("crowded", "data", "distinct", "echoed", "held", "shapes", "words")

    def __init__(self) -> None:
        self.words: dict[str, Place] = {}
        self.data: Place | None = None
        self.distinct: frozenset[int] = frozenset()
        self.crowded = False
        self.echoed = NONE
        self.held: dict[int, Reading] = {}
        self.shapes: dict[str, frozenset[str]] = {}

    @property
    def known(self) -> int:
        """How many different segments are known to be data."""
        return MAX_DATA if self.crowded else len(self.distinct)

    def branch(self, segment: str, hashed: int, *, leading: bool, first: bool = False) -> Place:
        """The place that a segment, decoded, leads to. leading: nothing but scaffold stands before it.

        first: nothing at all does, and something follows, so that it may be a version.
        """
        scaffold = is_scaffold(segment, leading=leading) or (first and may_be_version(segment))
        if scaffold or not (self.crowded or form(segment)):
            return self._word(segment)
        self.distinct = frozenset(sorted(self.distinct | {hashed})[:MAX_DATA])
        return self._data()

    def end(self, method: str, shape: frozenset[str], scalars: Mapping[int, Reading]) -> None:
        """Take in one exchange that ended here."""
        self._add_shape(method, shape)
        self._hold(scalars)

    def keep_below(self, limit: int) -> None:
        """Forget the hashes from `limit` on."""
        self.held = {hashed: reads for hashed, reads in self.held.items() if hashed < limit}

    def below(self) -> Iterator[Place]:
        """This place and all that follow."""
        yield self
        for place in [*self.words.values(), *([self.data] if self.data else [])]:
            yield from place.below()

    def _data(self) -> Place:
        if self.data is None:
            self.data = Place()
        return self.data

    def _word(self, segment: str) -> Place:
        known = self.words.get(segment)
        if known is not None:
            return known
        if self.crowded and not is_scaffold(segment, leading=False):
            return self._data()
        place = self.words[segment] = Place()
        if self.crowded or len(self.words) <= MAX_WORDS:
            return place
        self._crowd()
        return self._word(segment)

    def _crowd(self) -> None:
        """Where there are too many words, none is one."""
        self.crowded = True
        words, self.words = self.words, {}
        for segment, place in words.items():
            self._word(segment).absorb(place)  # scaffold stays a word, all else is data

    def absorb(self, other: Place) -> None:
        """Take in all that another place has; as if all that arrived there had arrived here."""
        if other.crowded and not self.crowded:
            self._crowd()
        for segment, place in other.words.items():
            self._word(segment).absorb(place)
        if other.data is not None:
            self._data().absorb(other.data)
        self.distinct = frozenset(sorted(self.distinct | other.distinct)[:MAX_DATA])
        self.echoed |= other.echoed
        self._hold(other.held)
        for method, shape in other.shapes.items():
            self._add_shape(method, shape)

    def _add_shape(self, method: str, shape: frozenset[str]) -> None:
        known = self.shapes.get(method)
        if known is None:
            self.shapes[method] = shape  # one object for all places with this shape
        elif not shape <= known:
            self.shapes[method] = bounded(known | shape)

    def _hold(self, scalars: Mapping[int, Reading]) -> None:
        for hashed, reads in scalars.items():
            self.held[hashed] = self.held.get(hashed, NONE) | reads


def segments_of(path: str) -> list[str]:
    """`/orders/17` -> `orders`, `17`: as they stand, encoded."""
    return path.split("/")[1:]


def leads(before: Sequence[str | None]) -> bool:
    """Whether nothing but scaffold stands before; None stands for a parameter."""
    rest = before[1:] if before and before[0] is not None and may_be_version(before[0]) else before
    return all(segment is not None and is_scaffold(segment) for segment in rest)
