"""Path templates learned from traffic: what is a parameter shows in the exchanges around it (contract 4).

A learner holds words of paths, names of properties and keyed hashes of values, all bounded, never a value.
The same exchanges make the same templates, in whatever order they come.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from affidavit._json import ABSENT, Absent, Json
from affidavit._shapes.data_like import form

from .classify import Decided, Known, Sign, decide
from .templates import Template, is_scaffold, templated
from .tree import NONE, Place, segments_of
from .value_index import Hashes, Sightings, bounded, sighted
from .vocabulary import Vocabulary
from .words import Reading

MAX_HASHES = 300_000  # of different values
MAX_PLACES = 100_000  # of the tree; one that is full learns no more
MAX_SHAPES = 10_000  # that are shared
MAX_SEGMENTS = 32  # a longer path teaches nothing
HASH_RANGE = 2**64
NO_OPERATION = frozenset({404, 405, 501})  # a scanner teaches nothing


class Learner:
    """Learns from exchanges, then tells the template of any path."""

    def __init__(self, hashes: Hashes | None = None) -> None:
        self._hashes = hashes or Hashes()
        self._root = Place()
        self._vocabulary = Vocabulary()
        self._seen: dict[int, int] = {}
        self._unchecked = 0
        self._full = False
        self._limit = HASH_RANGE
        self._shapes: dict[frozenset[str], frozenset[str]] = {}
        self._decided: Decided | None = None

    def learn(
        self,
        method: str,
        path: str,
        status: int,
        *,
        request: Json | Absent = ABSENT,
        response: Json | Absent = ABSENT,
    ) -> None:
        """Take in one exchange. path: raw, percent-encoded. Bodies of 2xx and 3xx teach, others do not."""
        length = path.count("/")
        if status in NO_OPERATION or length > MAX_SEGMENTS or not self._has_room(length):
            return
        self._decided = None
        path = _bare(path)
        sightings = sighted(self._hashes, request, response) if 200 <= status < 400 else None
        place = self._walked(path, sightings)
        if sightings is not None:
            for name in sightings.names:
                self._vocabulary.add(name)
            place.end(method, self._shared(bounded(sightings.shape)), self._hold(sightings.scalars))

    def template(self, path: str) -> Template:
        """The template of a raw path, as far as the traffic so far tells; without query or fragment.

        The first call after `learn` decides anew, in time that grows with the tree: learn a lot, then ask a lot.
        """
        path = _bare(path)
        place: Decided | None = self._decisions()
        parameters, undecided, leading = list[int](), list[int](), True
        for index, segment in enumerate(map(unquote, segments_of(path))):
            judgement = self._judged(place, segment, leading=leading)
            if judgement is Sign.PARAMETER:
                parameters.append(index)
                place = place.parameter if place else None
            else:
                undecided += [index] if judgement is Sign.UNDECIDED else []
                place = place.literals.get(segment) if place else None
            leading = leading and is_scaffold(segment)
        return templated(path, parameters, undecided)

    def _judged(self, place: Decided | None, segment: str, *, leading: bool) -> Sign:
        """LITERAL, PARAMETER or UNDECIDED. place: where the segment stands; None if nothing was learned of it."""
        if is_scaffold(segment, leading=leading):
            return Sign.LITERAL
        if place and segment in place.literals:
            return Sign.UNDECIDED if segment in place.undecided else Sign.LITERAL
        if form(segment) is not None or (place and segment in place.words):
            return Sign.PARAMETER
        if segment in self._vocabulary:
            return Sign.LITERAL
        if place and place.parameter:
            return Sign.PARAMETER
        return Sign.LITERAL if leading and not (place and place.undecided) else Sign.UNDECIDED

    def _walked(self, path: str, sightings: Sightings | None) -> Place:
        """The place where a path ends; on the way, what its own bodies say of each segment.

        A value that stands twice in a path is the last of both: a parameter follows the word for it.
        """
        place, leading = self._root, True
        scalars = dict(sightings.scalars) if sightings else {}
        steps: list[tuple[int, Place]] = []
        segments = [*map(unquote, segments_of(path))]
        for index, segment in enumerate(segments):
            hashed = self._hashes.of(segment)
            place = place.branch(segment, hashed, leading=leading, first=index == 0 < len(segments) - 1)
            leading = leading and is_scaffold(segment)
            steps.append((hashed, place))
        for hashed, passed in reversed(steps):
            passed.echoed |= scalars.pop(hashed, NONE)
        return place

    def _hold(self, scalars: Mapping[int, Reading]) -> dict[int, Reading]:
        """What may be kept. Beyond the bound, hashes below a limit that falls: the same ones in any order."""
        kept = [(hashed, reads) for hashed, reads in scalars.items() if hashed < self._limit]
        shared = {self._seen.setdefault(hashed, hashed): reads for hashed, reads in kept}
        while len(self._seen) > MAX_HASHES:
            self._limit //= 2
            self._seen = {hashed: hashed for hashed in self._seen if hashed < self._limit}
            for place in self._root.below():
                place.keep_below(self._limit)
        return {hashed: reads for hashed, reads in shared.items() if hashed < self._limit}

    def _has_room(self, segments: int) -> bool:
        """Whether that many places more can be held; they are counted only now and then."""
        self._unchecked += segments
        if self._unchecked > MAX_PLACES and not self._full:
            self._unchecked = sum(1 for _ in self._root.below()) + segments
            self._full = self._unchecked > MAX_PLACES
        return not self._full

    def _shared(self, shape: frozenset[str]) -> frozenset[str]:
        """An equal shape, the same object each time."""
        if len(self._shapes) >= MAX_SHAPES:
            self._shapes.clear()
        return self._shapes.setdefault(shape, shape)

    def _decisions(self) -> Decided:
        if self._decided is None:
            self._decided = decide([self._root], self._known())
        return self._decided

    def _known(self) -> Known:
        places = list(self._root.below())
        hashes = {segment: self._hashes.of(segment) for place in places for segment in place.words}
        segments = {hashed: segment for segment, hashed in hashes.items()}
        scalars: dict[str, Reading] = {}
        for place in places:
            for hashed in place.held.keys() & segments.keys():
                segment = segments[hashed]
                scalars[segment] = scalars.get(segment, NONE) | place.held[hashed]
        behind = [word for place in places if place.data is not None for word in place.data.words.items()]
        parts = {segment for segment, following in behind if following.data is not None}
        return Known(self._vocabulary, parts, scalars, hashes)


def _bare(path: str) -> str:
    return path.partition("?")[0].partition("#")[0]
