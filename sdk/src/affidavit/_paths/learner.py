"""Learn path templates from traffic: the exchanges show which segments are parameters (contract 4).

A learner holds a bounded number of path words, property names and keyed hashes of values, but never a value. The same
exchanges give the same templates in any order.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from affidavit._json import ABSENT, Absent, Json
from affidavit._shapes.data_like import detect_form

from .classify import Decision, Sign, TrafficFacts, decide
from .templates import Template, is_scaffold, place_parameters
from .tree import NO_READING, PathNode, split_segments
from .value_index import ExchangeFacts, KeyedHash, bound_shape, read_bodies
from .vocabulary import Vocabulary
from .words import Reading

MAX_HASHES = 300_000  # of different values
MAX_TREE_NODES = 100_000  # a full tree learns nothing more
MAX_SHAPES = 10_000  # held once for equal shapes
MAX_SEGMENTS = 32  # a longer path teaches nothing
HASH_RANGE = 2**64
NO_OPERATION = frozenset({404, 405, 501})  # as scanners get; nothing is learned from them


class Learner:
    """Learn from exchanges, then return the template of any path."""

    def __init__(self, hashes: KeyedHash | None = None) -> None:
        self._hashes = hashes or KeyedHash()
        self._root = PathNode()
        self._vocabulary = Vocabulary()
        self._known_hashes: dict[int, int] = {}
        self._unchecked = 0
        self._full = False
        self._limit = HASH_RANGE
        self._shapes: dict[frozenset[str], frozenset[str]] = {}
        self._decision: Decision | None = None

    def learn(
        self,
        method: str,
        path: str,
        status: int,
        *,
        request: Json | Absent = ABSENT,
        response: Json | Absent = ABSENT,
    ) -> None:
        """Learn from one exchange; from its bodies only for 2xx and 3xx. path: raw, percent-encoded."""
        length = path.count("/")
        if status in NO_OPERATION or length > MAX_SEGMENTS or not self._has_room(length):
            return
        self._decision = None
        path = _strip_query(path)
        facts = read_bodies(self._hashes, request, response) if 200 <= status < 400 else None
        node = self._walk(path, facts)
        if facts is not None:
            for name in facts.names:
                self._vocabulary.add(name)
            node.add_exchange(method, self._share_shape(bound_shape(facts.shape)), self._bound_values(facts.scalars))

    def template(self, path: str) -> Template:
        """Return the template of a raw path, without query or fragment, as the traffic so far shows it.

        The first call after `learn` decides again, which takes time in proportion to the tree. So learn many exchanges,
        then ask for many templates.
        """
        path = _strip_query(path)
        node: Decision | None = self._decide()
        parameters, undecided, leading = list[int](), list[int](), True
        for index, segment in enumerate(map(unquote, split_segments(path))):
            judgement = self._judge_segment(node, segment, leading=leading)
            if judgement is Sign.PARAMETER:
                parameters.append(index)
                node = node.parameter if node else None
            else:
                undecided += [index] if judgement is Sign.UNDECIDED else []
                node = node.literals.get(segment) if node else None
            leading = leading and is_scaffold(segment)
        return place_parameters(path, parameters, undecided)

    def _judge_segment(self, node: Decision | None, segment: str, *, leading: bool) -> Sign:
        """Return LITERAL, PARAMETER or UNDECIDED. node: the decision at this position; None if nothing was learned."""
        if is_scaffold(segment, leading=leading):
            return Sign.LITERAL
        if node and segment in node.literals:
            return Sign.UNDECIDED if segment in node.undecided else Sign.LITERAL
        if detect_form(segment) is not None or (node and segment in node.words):
            return Sign.PARAMETER
        if segment in self._vocabulary:
            return Sign.LITERAL
        if node and node.parameter:
            return Sign.PARAMETER
        return Sign.LITERAL if leading and not (node and node.undecided) else Sign.UNDECIDED

    def _walk(self, path: str, facts: ExchangeFacts | None) -> PathNode:
        """Return the node at the end of a path, and add to each node what the bodies say about its segment.

        If a value is in the path twice, only the last segment counts: a parameter follows the word for it.
        """
        node, leading = self._root, True
        scalars = dict(facts.scalars) if facts else {}
        steps: list[tuple[int, PathNode]] = []
        segments = [*map(unquote, split_segments(path))]
        for index, segment in enumerate(segments):
            hashed = self._hashes.digest(segment)
            node = node.open_branch(segment, hashed, leading=leading, first=index == 0 < len(segments) - 1)
            leading = leading and is_scaffold(segment)
            steps.append((hashed, node))
        for hashed, step in reversed(steps):
            step.echo_reading |= scalars.pop(hashed, NO_READING)
        return node

    def _bound_values(self, scalars: Mapping[int, Reading]) -> dict[int, Reading]:
        """Return the values to keep. Beyond MAX_HASHES, keep only hashes below a limit, which is halved as needed."""
        within_limit = [(hashed, reads) for hashed, reads in scalars.items() if hashed < self._limit]
        shared = {self._known_hashes.setdefault(hashed, hashed): reads for hashed, reads in within_limit}
        while len(self._known_hashes) > MAX_HASHES:
            self._limit //= 2
            self._known_hashes = {hashed: hashed for hashed in self._known_hashes if hashed < self._limit}
            for node in self._root.walk():
                node.forget_from(self._limit)
        return {hashed: reads for hashed, reads in shared.items() if hashed < self._limit}

    def _has_room(self, segments: int) -> bool:
        """Return whether that many more nodes fit. The tree is counted only when it may be full."""
        self._unchecked += segments
        if self._unchecked > MAX_TREE_NODES and not self._full:
            self._unchecked = sum(1 for _ in self._root.walk()) + segments
            self._full = self._unchecked > MAX_TREE_NODES
        return not self._full

    def _share_shape(self, shape: frozenset[str]) -> frozenset[str]:
        """Return an equal shape, always the same object."""
        if len(self._shapes) >= MAX_SHAPES:
            self._shapes.clear()
        return self._shapes.setdefault(shape, shape)

    def _decide(self) -> Decision:
        if self._decision is None:
            self._decision = decide([self._root], self._collect_facts())
        return self._decision

    def _collect_facts(self) -> TrafficFacts:
        nodes = list(self._root.walk())
        hashes = {segment: self._hashes.digest(segment) for node in nodes for segment in node.words}
        segments = {hashed: segment for segment, hashed in hashes.items()}
        scalars: dict[str, Reading] = {}
        for node in nodes:
            for hashed in node.value_readings.keys() & segments.keys():
                segment = segments[hashed]
                scalars[segment] = scalars.get(segment, NO_READING) | node.value_readings[hashed]
        branches = [word for node in nodes if node.data is not None for word in node.data.words.items()]
        parts = {segment for segment, following in branches if following.data is not None}
        return TrafficFacts(self._vocabulary, parts, scalars, hashes)


def _strip_query(path: str) -> str:
    return path.partition("?")[0].partition("#")[0]
