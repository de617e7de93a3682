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

CROWD_SIZE = 10  # siblings without any sign that one shape makes one operation
SAME_SIMILARITY = 0.9  # likeness of their shapes
THRONG_SIZE = 50  # siblings of which it is enough that the shapes are not unlike
SEVERAL = 2  # siblings that make a rule
MANY = 5  # siblings that make it whatever the shapes: what stands among so many names may be one
MANY_LEADING = 3  # segments with a strong sign, so that a path may begin with a parameter

Prefix = tuple["str | None", ...]
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
class TrafficFacts:
    """What is known from all traffic together.

    parts: segments that stand between data somewhere, as `items` in `orders/17/items/3`. scalars: how the
    properties read that hold a segment, by segment. hashes: of each segment.
    """

    vocabulary: Vocabulary
    parts: Set[str]
    scalars: Mapping[str, Reading]
    hashes: Mapping[str, int]


@dataclass
class Decision:
    """The decision about one position of a path.

    words: those of the parameter. undecided: which literals may be data.
    """

    literals: dict[str, Decision] = field(default_factory=dict)
    parameter: Decision | None = None
    words: frozenset[str] = frozenset()
    undecided: frozenset[str] = frozenset()


def decide(nodes: Sequence[PathNode], facts: TrafficFacts, prefix: Prefix = ()) -> Decision:
    """Decide which segments of `nodes` are parameters. They are one position, as parameters stand before them."""
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
        """LITERAL, PARAMETER or UNDECIDED for each word."""
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
        """A path begins with a parameter only where most beginnings have a strong sign."""
        strong = sum(sign is Sign.PARAMETER for sign in signs.values())
        if strong >= MANY_LEADING and 2 * strong >= len(signs):
            return {segment: sign if sign is Sign.PARAMETER else Sign.LITERAL for segment, sign in signs.items()}
        undecided = self._find_alike_beginnings(
            [segment for segment, sign in signs.items() if sign is not Sign.LITERAL]
        )
        return {segment: Sign.UNDECIDED if segment in undecided else Sign.LITERAL for segment in signs}

    def _settle_versions(self) -> dict[str, Sign]:
        """`/2/orders`: an API has one version, of its users there are more."""
        versions = [] if self._prefix else [segment for segment in self.words if may_be_version(segment)]
        return dict.fromkeys(versions, Sign.LITERAL if len(versions) == 1 and not self.data else Sign.PARAMETER)

    def _find_alike_beginnings(self, segments: Sequence[str]) -> Set[str]:
        """`/acme/orders`, `/globex/orders`: what goes on as others do may be data; where most do, all may be."""
        alike = find_alike_continuations({segment: self._collect_shapes(segment) for segment in segments})
        return set(segments) if 2 * len(alike) >= len(segments) else alike

    def _settle_lone(self, signs: dict[str, Sign]) -> None:
        """A parameter hardly follows another: where literals do, a value that is alone among them may be one too."""
        candidates = [
            segment for segment, sign in signs.items() if sign in (Sign.PARAMETER, Sign.LISTED, Sign.ELSEWHERE)
        ]
        literals = sum(sign is Sign.LITERAL for sign in signs.values())
        if self._prefix[-1] is None and not self.data and len(candidates) == 1 and literals >= SEVERAL:
            signs[candidates[0]] = Sign.UNDECIDED

    def _settle_listed(self, signs: dict[str, Sign]) -> None:
        """What bodies of other exchanges name is a parameter, if what stands behind is one operation."""
        candidates = [segment for segment, sign in signs.items() if sign in (Sign.LISTED, Sign.ELSEWHERE)]
        if self._count_parameters(signs):
            least, unlike, data = UNLIKE_SIMILARITY, Sign.UNDECIDED, self._collect_data_shapes(signs)
            alike = [measure_similarity(self._collect_shapes(segment), data) for segment in candidates]
        elif sum(sign is Sign.LISTED_WORD for sign in signs.values()) > len(candidates):
            signs.update(dict.fromkeys(candidates, Sign.UNDECIDED))  # what is listed are parts of the API
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
        """Of two signs that contradict each other the siblings tell; else, a parameter hardly follows another."""
        alone = Sign.LITERAL if self._prefix[-1] is None else Sign.UNDECIDED
        verdict = Sign.PARAMETER if self._count_parameters(signs) else alone
        signs.update({segment: verdict for segment, sign in signs.items() if sign is Sign.ECHOED_WORD})

    def _settle_listed_words(self, signs: dict[str, Sign]) -> None:
        """Among more parameters than such words these are parameters too, unless the shape says otherwise."""
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
                signs[segment] = Sign.LITERAL  # a parameter hardly follows another
            else:
                # Beside literals too: the only user next to `me` and `search` would go out by name.
                signs[segment] = Sign.UNDECIDED
        if not (are_few and literals >= SEVERAL):
            self._settle_crowd(signs)

    def _settle_crowd(self, signs: dict[str, Sign]) -> None:
        """The same shape behind many siblings is one operation, though nothing else tells."""
        crowd = [segment for segment, sign in signs.items() if sign is Sign.UNDECIDED]
        if len(crowd) < CROWD_SIZE:
            return
        least = UNLIKE_SIMILARITY if len(crowd) >= THRONG_SIZE else SAME_SIMILARITY
        alike = measure_group_similarity([self._collect_shapes(segment) for segment in crowd])
        if alike is not None and alike >= least:
            signs.update(dict.fromkeys(crowd, Sign.PARAMETER))

    def _judge_beside_parameters(self, segment: str, number: int, data: Shapes, *, acts: bool) -> Sign:
        """An unknown segment among known parameters is one too, unless its shape says otherwise."""
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
        """`reports/17`: what data follows is a literal more often than not. `retention-filters` reads like one."""
        nodes = self.words[segment]
        following = _group_branches(nodes)
        data = [node for word in following if word not in self._facts.vocabulary for node in following[word]]
        return (
            any(node.data is not None for node in nodes)
            or any(node.echo_reading & (Reading.IDENTITY | Reading.OTHER) for node in data)
            or self._facts.vocabulary.reads_like_collection(segment)
        )

    def _count_parameters(self, signs: Mapping[str, Sign]) -> int:
        """How many different segments are known to be parameters."""
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
