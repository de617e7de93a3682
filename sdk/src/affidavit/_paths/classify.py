"""Decide which segments in a tree of paths are parameters, position by position from the left.

Each segment gets one probability of being data: the sum of the weights of its signs is the logarithm of its odds.
The first look judges each segment alone. The second look adds the signs that the neighbours of a segment give, by the
results of the first look.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from math import exp, nextafter
from typing import NamedTuple

from .signs.named_signs import FOREIGN_CAPITALS, KNOWN_WORDS, NEVER_SEEN, OWN_IDENTITY, OWN_VALUES, UNLIKE_DATA
from .signs.neighbourhood import Neighbourhood, list_sibling_signs
from .signs.siblings import Prefix, Siblings
from .signs.traffic import TrafficFacts
from .signs.weights import WEIGHTS
from .tree import PathNode, count_paths
from .words.sentences import is_sentence

LITERAL_BELOW = 0.1
"""A segment is a literal below this probability: data as a literal is as bad as ten segments that stay undecided."""
PARAMETER_ABOVE = 0.85
"""A segment is a parameter above this probability: to treat a word as a parameter mixes operations."""
LIKELY_ABOVE = 0.7
"""A segment is a parameter above this at a position that has one already, or where no other segment is likely data.

It does not hold for a segment that answers unlike the data beside it.
"""
NAMED_LIKELY_ABOVE = 0.5
"""The same for a name or an id in a body of its own exchange, beside a parameter or alone at its position."""


class Verdict(Enum):
    LITERAL = auto()
    PARAMETER = auto()
    UNDECIDED = auto()


class Judgement(NamedTuple):
    """The judgement of a segment.

    probability: the probability that it is data.
    signs: the signs for and against this, with their weights.
    """

    probability: float
    signs: Mapping[str, float]

    @property
    def verdict(self) -> Verdict:
        if self.probability < LITERAL_BELOW:
            return Verdict.LITERAL
        return Verdict.PARAMETER if self.probability > PARAMETER_ABOVE else Verdict.UNDECIDED


LEAST_IN_DOUBT = 3
NEVER_ANSWERED = "never answered with success"
IN_DOUBT = "most strange words beside it may be data"
NAMED_IN_CAPITALS = "in capitals, and in a body of its exchange"
NOTHING_TO_MIX = "no other segment of its position is likely data"
AMONG_DATA = "likely data beside parameters"

UNKNOWN_SIGN = (0.0, 0.0)
"""The weights of a sign that no recording had."""

DATA_BY_FORM = Judgement(1.0, {"data by its form": 9.0})
FIXED = Judgement(0.0, {"part of any API": -9.0})
SENTENCE = Judgement(1.0, {"a sentence": 9.0})
VARIABLE = Judgement(1.0, {"one of several versions": 9.0})


@dataclass
class Decision:
    """The decision about one position of a path."""

    neighbourhood: Neighbourhood
    judgements: dict[str, Judgement]
    literals: dict[str, Decision] = field(default_factory=dict)
    parameter: Decision | None = None

    @property
    def siblings(self) -> Siblings:
        """Return the segments of the position."""
        return self.neighbourhood.siblings

    def follow(self, segment: str, judgement: Judgement) -> Decision:
        """Return the decision about the position that follows a segment."""
        following = self.parameter if judgement.verdict is Verdict.PARAMETER else self.literals.get(segment)
        if following is not None:
            return following
        before = None if judgement.verdict is Verdict.PARAMETER else segment
        siblings = Siblings([], self.siblings.facts, (*self.siblings.prefix, before))
        return Decision(Neighbourhood(siblings, {}), {})

    def judge_new(self, segment: str) -> Judgement:
        """Judge a segment that was never seen at this position, so that no response is known for it.

        It is a word only if this API or others have such a word. Else it is a parameter if the position has a
        parameter, and undecided if not.
        """
        judgement = judge_segment(self.neighbourhood, segment)
        is_known = bool(judgement.signs.keys() & KNOWN_WORDS)
        if judgement in (FIXED, SENTENCE) or (is_known and judgement.verdict is Verdict.LITERAL):
            return judgement
        return Judgement(0.5 if self.parameter is None else 1.0, {**judgement.signs, NEVER_SEEN: 0.0})


def decide(nodes: Sequence[PathNode], facts: TrafficFacts, prefix: Prefix = ()) -> Decision:
    """Decide which segments of `nodes` are parameters. The nodes form one position: the path before them is equal."""
    siblings = Siblings(nodes, facts, prefix)
    neighbourhood = Neighbourhood(siblings, take_first_look(siblings))
    judgements = {segment: judge_segment(neighbourhood, segment) for segment in siblings.words}
    _doubt_strange_words(siblings, judgements)
    _doubt_named_capitals(judgements)
    _decide_likely_segments(siblings, judgements)
    decision = Decision(neighbourhood, judgements)
    parameters = {segment for segment, judgement in judgements.items() if judgement.verdict is Verdict.PARAMETER}
    for segment in sorted(siblings.words.keys() - parameters):
        decision.literals[segment] = decide(siblings.words[segment], facts, (*prefix, segment))
    data = siblings.collect_data(parameters)
    if data:
        decision.parameter = decide(data, facts, (*prefix, None))
    return decision


def _doubt_strange_words(siblings: Siblings, judgements: dict[str, Judgement]) -> None:
    """Leave strange words undecided that no answer confirms, and all strange words if most of them may be data.

    `Siblings.is_strange` says which words are strange.
    """
    strange = [segment for segment in judgements if siblings.is_strange(segment) and not siblings.is_fixed(segment)]
    literal = [segment for segment in strange if judgements[segment].verdict is Verdict.LITERAL]
    most_in_doubt = len(strange) - len(literal) >= max(LEAST_IN_DOUBT, len(literal) + 1)
    for segment in literal:
        if most_in_doubt or not any(map(count_paths, siblings.words[segment])):
            reason = IN_DOUBT if most_in_doubt else NEVER_ANSWERED
            judgements[segment] = Judgement(LITERAL_BELOW, {**judgements[segment].signs, reason: 0.0})


def _doubt_named_capitals(judgements: dict[str, Judgement]) -> None:
    """Leave words in capitals undecided if a body of their exchange has them, but the API writes in small letters."""
    for segment, judgement in judgements.items():
        in_doubt = judgement.signs.keys() >= FOREIGN_CAPITALS and judgement.signs.keys() & OWN_VALUES
        if in_doubt and judgement.verdict is Verdict.LITERAL:
            judgements[segment] = Judgement(LITERAL_BELOW, {**judgement.signs, NAMED_IN_CAPITALS: 0.0})


def _decide_likely_segments(siblings: Siblings, judgements: dict[str, Judgement]) -> None:
    """Make parameters of the segments that are likely data, where this mixes no words with each other.

    So it is where the position has a parameter already, and where only one segment is likely data.
    """
    has_parameter = bool(siblings.data) or Verdict.PARAMETER in {judged.verdict for judged in judgements.values()}
    is_alone = not siblings.data and sum(not siblings.is_fixed(segment) for segment in judgements) == 1
    likely = [
        segment
        for segment, judgement in judgements.items()
        if judgement.verdict is Verdict.UNDECIDED
        and judgement.probability > _find_limit(judgement, is_alone=is_alone, has_parameter=has_parameter)
    ]
    if not has_parameter and len(likely) > 1:
        return
    reason = AMONG_DATA if has_parameter else NOTHING_TO_MIX
    for segment in likely:
        signs = {**judgements[segment].signs, reason: 0.0}
        judgements[segment] = Judgement(nextafter(PARAMETER_ABOVE, 1.0), signs)


def _find_limit(judgement: Judgement, *, is_alone: bool, has_parameter: bool) -> float:
    """Return the probability above which a segment is likely data.

    is_alone: whether it is the only segment of its position.
    has_parameter: whether the position has a parameter already.
    """
    if OWN_IDENTITY in judgement.signs and (is_alone or has_parameter):
        return NAMED_LIKELY_ABOVE
    return PARAMETER_ABOVE if UNLIKE_DATA in judgement.signs else LIKELY_ABOVE


def take_first_look(siblings: Siblings) -> dict[str, float]:
    """Return the probability that each segment is data, judged without the segments beside it."""
    return {
        segment: 0.0 if siblings.is_fixed(segment) else to_probability(_add_weights(siblings.own_signs(segment)))
        for segment in siblings.words
    }


def judge_segment(neighbourhood: Neighbourhood, segment: str) -> Judgement:
    """Judge one segment, whether it was seen at this position or not."""
    siblings = neighbourhood.siblings
    if siblings.is_fixed(segment):
        return FIXED
    if segment in siblings.versions:
        return VARIABLE
    if is_sentence(segment):
        return SENTENCE
    signs = ("", *siblings.own_signs(segment), *list_sibling_signs(neighbourhood, segment))
    weights = {sign: WEIGHTS.get(sign, UNKNOWN_SIGN)[1] for sign in signs}
    return Judgement(to_probability(sum(weights.values())), weights)


def to_probability(log_odds: float) -> float:
    return 1 / (1 + exp(-max(-30.0, min(30.0, log_odds))))


def _add_weights(signs: Iterable[str]) -> float:
    return sum(WEIGHTS.get(sign, UNKNOWN_SIGN)[0] for sign in ("", *signs))
