"""Which segments of a tree of paths are parameters, place by place from the left.

Two signs outweigh all others. A segment that is, in the same exchange, the value of a property which does not
read like an enumeration is a parameter; one that is a word of a property name anywhere is a literal. The rest
is settled by what stands beside it. Where nothing tells, a segment is undecided: taking two operations for one
does more harm than taking one for two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum, auto

from .response_similarity import ALIKE, UNLIKE, Shapes, going_on_alike, likeness, likeness_among, shapes_behind
from .templates import is_scaffold, may_be_version
from .tree import NONE, Place, leads
from .vocabulary import Vocabulary, begins_with_action, is_action
from .words import Reading

CROWD = 10  # siblings without any sign that one shape makes one operation
SAME = 0.9  # likeness of their shapes
THRONG = 50  # siblings of which it is enough that the shapes are not unlike
SEVERAL = 2  # siblings that make a rule
MANY = 5  # siblings that make it whatever the shapes: what stands among so many names may be one
MANY_LEADING = 3  # segments with a strong sign, so that a path may begin with a parameter

Before = tuple["str | None", ...]
"""The segments before a place, None for a parameter."""


class Sign(Enum):
    """What is known of a segment by itself."""

    LITERAL = auto()
    PARAMETER = auto()
    ECHOED_WORD = auto()  # a property name, and the value of an identifying property beside it
    LISTED_WORD = auto()  # a property name, and such a value in the bodies of what stands right before it
    LISTED = auto()  # a value in the bodies of what stands right before it
    ELSEWHERE = auto()  # the value of an identifying property in other bodies
    ACTION = auto()  # it begins with a word for what any API does
    UNKNOWN = auto()
    UNDECIDED = auto()


@dataclass(frozen=True)
class Known:
    """What all traffic together tells.

    parts: segments that stand between data somewhere, as `items` in `orders/17/items/3`. scalars: how the
    properties read that hold a segment, by segment. hashes: of each segment.
    """

    vocabulary: Vocabulary
    parts: Set[str]
    scalars: Mapping[str, Reading]
    hashes: Mapping[str, int]


@dataclass
class Decided:
    """One place of a template. words: those of the parameter. undecided: which literals may be data."""

    literals: dict[str, Decided] = field(default_factory=dict)
    parameter: Decided | None = None
    words: frozenset[str] = frozenset()
    undecided: frozenset[str] = frozenset()


def decide(places: Sequence[Place], known: Known, before: Before = ()) -> Decided:
    """places: those that are one place, since the segments before them are parameters."""
    siblings = _Siblings(places, known, before)
    signs = siblings.settled()
    words = frozenset(segment for segment, sign in signs.items() if sign is Sign.PARAMETER)
    data = [*siblings.data, *(place for segment in sorted(words) for place in siblings.words[segment])]
    return Decided(
        {
            segment: decide(following, known, (*before, segment))
            for segment, following in siblings.words.items()
            if segment not in words
        },
        decide(data, known, (*before, None)) if data else None,
        words,
        frozenset(segment for segment, sign in signs.items() if sign is Sign.UNDECIDED),
    )


class _Siblings:
    """The segments of one place, judged together."""

    def __init__(self, places: Sequence[Place], known: Known, before: Before) -> None:
        self._places = places
        self._known = known
        self._before = before
        self.words = _branches(places)
        self.data = [place.data for place in places if place.data is not None]
        self._data_known = max((place.known for place in places), default=0)
        self._behind: dict[str, Shapes] = {}

    def settled(self) -> dict[str, Sign]:
        """LITERAL, PARAMETER or UNDECIDED for each word."""
        signs = {segment: self._sign(segment) for segment in sorted(self.words)}
        if leads(self._before):
            return {**self._settled_leading(signs), **self._settled_versions()}
        for settle in (
            self._settle_lone,
            self._settle_listed,
            self._settle_echoed_words,
            self._settle_listed_words,
            self._settle_unknown,
        ):
            settle(signs)
        return signs

    def _sign(self, segment: str) -> Sign:
        echoed = self._echoed(segment)
        if is_scaffold(segment, leading=leads(self._before)):
            return Sign.LITERAL
        if segment in self._known.vocabulary:
            return self._sign_of_word(segment, echoed)
        if echoed & (Reading.IDENTITY | Reading.OTHER):
            return Sign.PARAMETER
        if self._held(segment) & (Reading.IDENTITY | Reading.OTHER):
            return Sign.ACTION if is_action(segment) else Sign.LISTED
        if is_action(segment) or segment in self._known.parts:
            return Sign.LITERAL
        if Reading.IDENTITY in self._known.scalars.get(segment, NONE):
            return Sign.ELSEWHERE
        return Sign.ACTION if begins_with_action(segment) else Sign.UNKNOWN

    def _sign_of_word(self, segment: str, echoed: Reading) -> Sign:
        if Reading.IDENTITY in echoed:
            return Sign.ECHOED_WORD
        listed = Reading.IDENTITY in self._held(segment) and not is_action(segment)
        return Sign.LISTED_WORD if listed else Sign.LITERAL

    def _settled_leading(self, signs: Mapping[str, Sign]) -> dict[str, Sign]:
        """A path begins with a parameter only where most beginnings have a strong sign."""
        strong = sum(sign is Sign.PARAMETER for sign in signs.values())
        if strong >= MANY_LEADING and 2 * strong >= len(signs):
            return {segment: sign if sign is Sign.PARAMETER else Sign.LITERAL for segment, sign in signs.items()}
        undecided = self._alike_beginnings([segment for segment, sign in signs.items() if sign is not Sign.LITERAL])
        return {segment: Sign.UNDECIDED if segment in undecided else Sign.LITERAL for segment in signs}

    def _settled_versions(self) -> dict[str, Sign]:
        """`/2/orders`: an API has one version, of its users there are more."""
        found = [] if self._before else [segment for segment in self.words if may_be_version(segment)]
        return dict.fromkeys(found, Sign.LITERAL if len(found) == 1 and not self.data else Sign.PARAMETER)

    def _alike_beginnings(self, segments: Sequence[str]) -> Set[str]:
        """`/acme/orders`, `/globex/orders`: what goes on as others do may be data; where most do, all may be."""
        found = going_on_alike({segment: self._shapes(segment) for segment in segments})
        return set(segments) if 2 * len(found) >= len(segments) else found

    def _settle_lone(self, signs: dict[str, Sign]) -> None:
        """A parameter hardly follows another: where literals do, a value that is alone among them may be one too."""
        named = [segment for segment, sign in signs.items() if sign in (Sign.PARAMETER, Sign.LISTED, Sign.ELSEWHERE)]
        literals = sum(sign is Sign.LITERAL for sign in signs.values())
        if self._before[-1] is None and not self.data and len(named) == 1 and literals >= SEVERAL:
            signs[named[0]] = Sign.UNDECIDED

    def _settle_listed(self, signs: dict[str, Sign]) -> None:
        """What bodies of other exchanges name is a parameter, if what stands behind is one operation."""
        named = [segment for segment, sign in signs.items() if sign in (Sign.LISTED, Sign.ELSEWHERE)]
        if self._number(signs):
            least, unlike, data = UNLIKE, Sign.UNDECIDED, self._shapes_of_data(signs)
            alike = [likeness(self._shapes(segment), data) for segment in named]
        elif sum(sign is Sign.LISTED_WORD for sign in signs.values()) > len(named):
            signs.update(dict.fromkeys(named, Sign.UNDECIDED))  # what is listed are parts of the API
            return
        else:
            least, unlike, among = ALIKE, Sign.LITERAL, likeness_among([self._shapes(segment) for segment in named])
            alike = [among] * len(named)
        for segment, found in zip(named, alike, strict=True):
            signs[segment] = Sign.PARAMETER if found is None or found >= least else unlike

    def _settle_echoed_words(self, signs: dict[str, Sign]) -> None:
        """Of two signs that contradict each other the siblings tell; else, a parameter hardly follows another."""
        alone = Sign.LITERAL if self._before[-1] is None else Sign.UNDECIDED
        found = Sign.PARAMETER if self._number(signs) else alone
        signs.update({segment: found for segment, sign in signs.items() if sign is Sign.ECHOED_WORD})

    def _settle_listed_words(self, signs: dict[str, Sign]) -> None:
        """Among more parameters than such words these are parameters too, unless the shape says otherwise."""
        number, data = self._number(signs), self._shapes_of_data(signs)
        found = [segment for segment, sign in signs.items() if sign is Sign.LISTED_WORD]
        for segment in found:
            alike = likeness(self._shapes(segment), data)
            likely = number >= len(found) and (alike is None or alike >= ALIKE)
            signs[segment] = Sign.PARAMETER if likely else Sign.LITERAL

    def _settle_unknown(self, signs: dict[str, Sign]) -> None:
        number, data = self._number(signs), self._shapes_of_data(signs)
        unknown = [segment for segment, sign in signs.items() if sign is Sign.UNKNOWN]
        literals = sum(sign is Sign.LITERAL for sign in signs.values())
        few, follows_data = len(unknown) <= max(2 * CROWD, 2 * literals), self._before[-1] is None
        for segment, sign in list(signs.items()):
            if sign not in (Sign.UNKNOWN, Sign.ACTION):
                continue
            if number:
                signs[segment] = self._beside_parameters(segment, number, data, acts=sign is Sign.ACTION)
            elif sign is Sign.ACTION or self._is_collection(segment) or (few and follows_data):
                signs[segment] = Sign.LITERAL  # a parameter hardly follows another
            else:
                # Beside literals too: the only user next to `me` and `search` would go out by name.
                signs[segment] = Sign.UNDECIDED
        if not (few and literals >= SEVERAL):
            self._settle_crowd(signs)

    def _settle_crowd(self, signs: dict[str, Sign]) -> None:
        """The same shape behind many siblings is one operation, though nothing else tells."""
        crowd = [segment for segment, sign in signs.items() if sign is Sign.UNDECIDED]
        if len(crowd) < CROWD:
            return
        least = UNLIKE if len(crowd) >= THRONG else SAME
        alike = likeness_among([self._shapes(segment) for segment in crowd])
        if alike is not None and alike >= least:
            signs.update(dict.fromkeys(crowd, Sign.PARAMETER))

    def _beside_parameters(self, segment: str, number: int, data: Shapes, *, acts: bool) -> Sign:
        """An unknown segment among known parameters is one too, unless its shape says otherwise."""
        shapes = self._shapes(segment)
        alike = likeness(shapes, data)
        if alike is not None and alike >= ALIKE:
            return Sign.PARAMETER
        if acts:
            return Sign.LITERAL if is_action(segment) or alike is not None else Sign.UNDECIDED
        if number >= MANY:
            return Sign.PARAMETER
        if alike is not None and alike < UNLIKE:
            return Sign.LITERAL
        return Sign.PARAMETER if number >= SEVERAL and shapes.keys() & data.keys() else Sign.UNDECIDED

    def _is_collection(self, segment: str) -> bool:
        """`reports/17`: what data follows is a literal more often than not. `retention-filters` reads like one."""
        places = self.words[segment]
        following = _branches(places)
        data = [place for word in following if word not in self._known.vocabulary for place in following[word]]
        return (
            any(place.data is not None for place in places)
            or any(place.echoed & (Reading.IDENTITY | Reading.OTHER) for place in data)
            or self._known.vocabulary.reads_like_collection(segment)
        )

    def _number(self, signs: Mapping[str, Sign]) -> int:
        """How many different segments are known to be parameters."""
        return self._data_known + sum(sign is Sign.PARAMETER for sign in signs.values())

    def _shapes_of_data(self, signs: Mapping[str, Sign]) -> Shapes:
        ours = [self.words[segment] for segment, sign in signs.items() if sign is Sign.PARAMETER]
        return shapes_behind([*self.data, *(place for places in ours for place in places)])

    def _shapes(self, segment: str) -> Shapes:
        if segment not in self._behind:
            self._behind[segment] = shapes_behind(self.words[segment])
        return self._behind[segment]

    def _echoed(self, segment: str) -> Reading:
        return _all(place.echoed for place in self.words[segment])

    def _held(self, segment: str) -> Reading:
        hashed = self._known.hashes[segment]
        return _all(place.held.get(hashed, NONE) for place in self._places)


def _branches(places: Iterable[Place]) -> dict[str, list[Place]]:
    found: dict[str, list[Place]] = defaultdict(list)
    for place in places:
        for segment, following in place.words.items():
            found[segment].append(following)
    return found


def _all(readings: Iterable[Reading]) -> Reading:
    found = NONE
    for reading in readings:
        found |= reading
    return found
