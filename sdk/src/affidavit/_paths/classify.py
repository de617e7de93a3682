"""Decide which segments of a tree of paths are parameters, position by position from the left.

Two signs outweigh all others. A segment is a parameter if it is the value of a property in the same exchange, unless
that property is named like an enumeration. A segment is a literal if it is a word of any property name. The rest is
decided by its siblings. A segment without any sign stays undecided: merging two operations by mistake does more harm
than showing one operation as two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum, auto

from .response_similarity import (
    ALIKE_SIMILARITY,
    UNLIKE_SIMILARITY,
    Shapes,
    collect_shapes,
    find_alike_continuations,
    measure_group_similarity,
    measure_similarity,
)
from .templates import is_scaffold, may_be_version
from .tree import NO_READING, PathNode, is_leading
from .vocabulary import Vocabulary, begins_with_action, is_action
from .words import Reading

CROWD_SIZE = 10  # so many siblings without any sign are one operation if their shapes are the same
SAME_SIMILARITY = 0.9  # from this similarity on, shapes are the same
THRONG_SIZE = 50  # for so many siblings it is enough that their shapes are not unlike
SEVERAL = 2  # so many siblings are a rule
MANY = 5  # beside so many parameters an unknown segment is one too, whatever its shape
MANY_LEADING = 3  # a path may begin with a parameter only if so many first segments have a strong sign

Prefix = tuple["str | None", ...]
"""The segments before a position, None for a parameter."""


class Sign(Enum):
    """What is known about a segment without its siblings."""

    LITERAL = auto()
    PARAMETER = auto()
    ECHOED_WORD = auto()  # a property name, and the value of an identifying property in the same exchange
    LISTED_WORD = auto()  # a property name, and such a value in the bodies of its parent path
    LISTED = auto()  # a value in the bodies of its parent path
    ELSEWHERE = auto()  # the value of an identifying property in other bodies
    ACTION = auto()  # it begins with a common word for an action
    UNKNOWN = auto()
    UNDECIDED = auto()


@dataclass(frozen=True)
class TrafficFacts:
    """What all traffic together shows.

    parts: segments that are between data in some path, like `items` in `orders/17/items/3`. scalars: by segment, what
    the names of the properties with that value say about it. hashes: of each segment.
    """

    vocabulary: Vocabulary
    parts: Set[str]
    scalars: Mapping[str, Reading]
    hashes: Mapping[str, int]


@dataclass
class Decision:
    """The decision about one position of a path.

    words: the segments that are values of the parameter. undecided: the literals that may be data.
    """

    literals: dict[str, Decision] = field(default_factory=dict)
    parameter: Decision | None = None
    words: frozenset[str] = frozenset()
    undecided: frozenset[str] = frozenset()


def decide(nodes: Sequence[PathNode], facts: TrafficFacts, prefix: Prefix = ()) -> Decision:
    """Decide which segments of `nodes` are parameters. Several nodes are one position behind a parameter."""
    siblings = _Siblings(nodes, facts, prefix)
    signs = siblings.settle()
    words = frozenset(segment for segment, sign in signs.items() if sign is Sign.PARAMETER)
    data = [*siblings.data, *(node for segment in sorted(words) for node in siblings.words[segment])]
    return Decision(
        {
            segment: decide(following, facts, (*prefix, segment))
            for segment, following in siblings.words.items()
            if segment not in words
        },
        decide(data, facts, (*prefix, None)) if data else None,
        words,
        frozenset(segment for segment, sign in signs.items() if sign is Sign.UNDECIDED),
    )


class _Siblings:
    """The segments of one position, judged together."""

    def __init__(self, nodes: Sequence[PathNode], facts: TrafficFacts, prefix: Prefix) -> None:
        self._nodes = nodes
        self._facts = facts
        self._prefix = prefix
        self.words = _group_branches(nodes)
        self.data = [node.data for node in nodes if node.data is not None]
        self._data_count = max((node.data_count for node in nodes), default=0)
        self._shapes_by_segment: dict[str, Shapes] = {}

    def settle(self) -> dict[str, Sign]:
        """Return LITERAL, PARAMETER or UNDECIDED for each word."""
        signs = {segment: self._read_sign(segment) for segment in sorted(self.words)}
        if is_leading(self._prefix):
            return {**self._settle_leading(signs), **self._settle_versions()}
        for settle in (
            self._settle_lone,
            self._settle_listed,
            self._settle_echoed_words,
            self._settle_listed_words,
            self._settle_unknown,
        ):
            settle(signs)
        return signs

    def _read_sign(self, segment: str) -> Sign:
        echoed = self._read_echoes(segment)
        if is_scaffold(segment, leading=is_leading(self._prefix)):
            return Sign.LITERAL
        if segment in self._facts.vocabulary:
            return self._read_sign_of_word(segment, echoed)
        if echoed & (Reading.IDENTITY | Reading.OTHER):
            return Sign.PARAMETER
        if self._read_values(segment) & (Reading.IDENTITY | Reading.OTHER):
            return Sign.ACTION if is_action(segment) else Sign.LISTED
        if is_action(segment) or segment in self._facts.parts:
            return Sign.LITERAL
        if Reading.IDENTITY in self._facts.scalars.get(segment, NO_READING):
            return Sign.ELSEWHERE
        return Sign.ACTION if begins_with_action(segment) else Sign.UNKNOWN

    def _read_sign_of_word(self, segment: str, echoed: Reading) -> Sign:
        if Reading.IDENTITY in echoed:
            return Sign.ECHOED_WORD
        is_listed = Reading.IDENTITY in self._read_values(segment) and not is_action(segment)
        return Sign.LISTED_WORD if is_listed else Sign.LITERAL

    def _settle_leading(self, signs: Mapping[str, Sign]) -> dict[str, Sign]:
        """Decide the first segment of a path: a parameter only if most first segments have a strong sign."""
        strong = sum(sign is Sign.PARAMETER for sign in signs.values())
        if strong >= MANY_LEADING and 2 * strong >= len(signs):
            return {segment: sign if sign is Sign.PARAMETER else Sign.LITERAL for segment, sign in signs.items()}
        undecided = self._find_alike_beginnings(
            [segment for segment, sign in signs.items() if sign is not Sign.LITERAL]
        )
        return {segment: Sign.UNDECIDED if segment in undecided else Sign.LITERAL for segment in signs}

    def _settle_versions(self) -> dict[str, Sign]:
        """Decide numbers and dates that begin a path, as in `/2/orders`: one is a version, several are data."""
        versions = [] if self._prefix else [segment for segment in self.words if may_be_version(segment)]
        return dict.fromkeys(versions, Sign.LITERAL if len(versions) == 1 and not self.data else Sign.PARAMETER)

    def _find_alike_beginnings(self, segments: Sequence[str]) -> Set[str]:
        """Return the first segments that may be data, with alike continuations (`/acme/orders`, `/globex/orders`).

        If at least half do, all may be data.
        """
        alike = find_alike_continuations({segment: self._collect_shapes(segment) for segment in segments})
        return set(segments) if 2 * len(alike) >= len(segments) else alike

    def _settle_lone(self, signs: dict[str, Sign]) -> None:
        """Leave a lone value among literals undecided behind a parameter: one rarely follows another directly."""
        candidates = [
            segment for segment, sign in signs.items() if sign in (Sign.PARAMETER, Sign.LISTED, Sign.ELSEWHERE)
        ]
        literals = sum(sign is Sign.LITERAL for sign in signs.values())
        if self._prefix[-1] is None and not self.data and len(candidates) == 1 and literals >= SEVERAL:
            signs[candidates[0]] = Sign.UNDECIDED

    def _settle_listed(self, signs: dict[str, Sign]) -> None:
        """Decide values that other exchanges have in their bodies: parameters, if the shapes show one operation."""
        candidates = [segment for segment, sign in signs.items() if sign in (Sign.LISTED, Sign.ELSEWHERE)]
        if self._count_parameters(signs):
            least, unlike, data = UNLIKE_SIMILARITY, Sign.UNDECIDED, self._collect_data_shapes(signs)
            alike = [measure_similarity(self._collect_shapes(segment), data) for segment in candidates]
        elif sum(sign is Sign.LISTED_WORD for sign in signs.values()) > len(candidates):
            signs.update(dict.fromkeys(candidates, Sign.UNDECIDED))  # the bodies list parts of the API, not data
            return
        else:
            least, unlike, among = (
                ALIKE_SIMILARITY,
                Sign.LITERAL,
                measure_group_similarity([self._collect_shapes(segment) for segment in candidates]),
            )
            alike = [among] * len(candidates)
        for segment, similarity in zip(candidates, alike, strict=True):
            signs[segment] = Sign.PARAMETER if similarity is None or similarity >= least else unlike

    def _settle_echoed_words(self, signs: dict[str, Sign]) -> None:
        """Decide words with two contradicting signs by their siblings: beside parameters they are parameters."""
        alone = Sign.LITERAL if self._prefix[-1] is None else Sign.UNDECIDED
        verdict = Sign.PARAMETER if self._count_parameters(signs) else alone
        signs.update({segment: verdict for segment, sign in signs.items() if sign is Sign.ECHOED_WORD})

    def _settle_listed_words(self, signs: dict[str, Sign]) -> None:
        """Decide listed words: parameters if there are at least as many parameters, and their shapes are alike."""
        number, data = self._count_parameters(signs), self._collect_data_shapes(signs)
        listed_words = [segment for segment, sign in signs.items() if sign is Sign.LISTED_WORD]
        for segment in listed_words:
            alike = measure_similarity(self._collect_shapes(segment), data)
            likely = number >= len(listed_words) and (alike is None or alike >= ALIKE_SIMILARITY)
            signs[segment] = Sign.PARAMETER if likely else Sign.LITERAL

    def _settle_unknown(self, signs: dict[str, Sign]) -> None:
        number, data = self._count_parameters(signs), self._collect_data_shapes(signs)
        unknown = [segment for segment, sign in signs.items() if sign is Sign.UNKNOWN]
        literals = sum(sign is Sign.LITERAL for sign in signs.values())
        are_few, follows_data = len(unknown) <= max(2 * CROWD_SIZE, 2 * literals), self._prefix[-1] is None
        for segment, sign in list(signs.items()):
            if sign not in (Sign.UNKNOWN, Sign.ACTION):
                continue
            if number:
                signs[segment] = self._judge_beside_parameters(segment, number, data, acts=sign is Sign.ACTION)
            elif sign is Sign.ACTION or self._is_collection(segment) or (are_few and follows_data):
                signs[segment] = Sign.LITERAL  # a parameter rarely follows another directly
            else:
                # Also beside literals: else the only user beside `me` and `search` would be sent by name.
                signs[segment] = Sign.UNDECIDED
        if not (are_few and literals >= SEVERAL):
            self._settle_crowd(signs)

    def _settle_crowd(self, signs: dict[str, Sign]) -> None:
        """Make many undecided siblings with the same shape parameters: they are one operation."""
        crowd = [segment for segment, sign in signs.items() if sign is Sign.UNDECIDED]
        if len(crowd) < CROWD_SIZE:
            return
        least = UNLIKE_SIMILARITY if len(crowd) >= THRONG_SIZE else SAME_SIMILARITY
        alike = measure_group_similarity([self._collect_shapes(segment) for segment in crowd])
        if alike is not None and alike >= least:
            signs.update(dict.fromkeys(crowd, Sign.PARAMETER))

    def _judge_beside_parameters(self, segment: str, number: int, data: Shapes, *, acts: bool) -> Sign:
        """Judge an unknown segment beside parameters: it is a parameter too, unless its shape differs."""
        shapes = self._collect_shapes(segment)
        alike = measure_similarity(shapes, data)
        if alike is not None and alike >= ALIKE_SIMILARITY:
            return Sign.PARAMETER
        if acts:
            return Sign.LITERAL if is_action(segment) or alike is not None else Sign.UNDECIDED
        if number >= MANY:
            return Sign.PARAMETER
        if alike is not None and alike < UNLIKE_SIMILARITY:
            return Sign.LITERAL
        return Sign.PARAMETER if number >= SEVERAL and shapes.keys() & data.keys() else Sign.UNDECIDED

    def _is_collection(self, segment: str) -> bool:
        """Return whether a segment is likely a collection: data follows it (`reports/17`), or it is named like one."""
        nodes = self.words[segment]
        following = _group_branches(nodes)
        data = [node for word in following if word not in self._facts.vocabulary for node in following[word]]
        return (
            any(node.data is not None for node in nodes)
            or any(node.echo_reading & (Reading.IDENTITY | Reading.OTHER) for node in data)
            or self._facts.vocabulary.reads_like_collection(segment)
        )

    def _count_parameters(self, signs: Mapping[str, Sign]) -> int:
        """Return how many different segments are known to be parameters."""
        return self._data_count + sum(sign is Sign.PARAMETER for sign in signs.values())

    def _collect_data_shapes(self, signs: Mapping[str, Sign]) -> Shapes:
        groups = [self.words[segment] for segment, sign in signs.items() if sign is Sign.PARAMETER]
        return collect_shapes([*self.data, *(node for group in groups for node in group)])

    def _collect_shapes(self, segment: str) -> Shapes:
        if segment not in self._shapes_by_segment:
            self._shapes_by_segment[segment] = collect_shapes(self.words[segment])
        return self._shapes_by_segment[segment]

    def _read_echoes(self, segment: str) -> Reading:
        return _join_readings(node.echo_reading for node in self.words[segment])

    def _read_values(self, segment: str) -> Reading:
        hashed = self._facts.hashes[segment]
        return _join_readings(node.value_readings.get(hashed, NO_READING) for node in self._nodes)


def _group_branches(nodes: Iterable[PathNode]) -> dict[str, list[PathNode]]:
    branches: dict[str, list[PathNode]] = defaultdict(list)
    for node in nodes:
        for segment, following in node.words.items():
            branches[segment].append(following)
    return branches


def _join_readings(readings: Iterable[Reading]) -> Reading:
    joined = NO_READING
    for reading in readings:
        joined |= reading
    return joined
