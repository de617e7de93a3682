"""Path templates learned from traffic: the exchanges around a segment show whether it is a parameter (contract §4).

A learner holds words of paths, names of properties and keyed hashes of values, all bounded, never a value.
The same exchanges make the same templates, in whatever order they come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from affidavit._json import ABSENT, Absent, Json
from affidavit._shapes.name_words import split_words

from .classify import DATA_BY_FORM, Decision, Judgement, Verdict, decide
from .embedded_values import replace_values, strip_values
from .exchange_facts import ExchangeFacts, KeyedHash, bound_shape, read_bodies
from .no_operation_statuses import NO_OPERATION
from .segment_form import detect_segment_form
from .signs.traffic import TrafficFacts
from .templates import Template, place_parameters
from .tree import PathNode, count_paths, split_segments
from .versions import is_scaffold, is_version, may_be_version
from .words.property_names import NO_READING, Reading
from .words.singulars import singularize
from .words.vocabulary import Vocabulary
from .words.writing_style import Style

MAX_HASHES = 300_000  # hashes of different values
MAX_TREE_NODES = 100_000  # nodes; a tree of this size learns no more
MAX_SHAPES = 10_000  # shared shapes
MAX_SEGMENTS = 32  # a longer path is ignored
HASH_RANGE = 2**64


class Learner:
    """Learns from exchanges, then returns the template of any path."""

    def __init__(self, hashes: KeyedHash | None = None) -> None:
        self._hashes = hashes or KeyedHash()
        self._root = PathNode()
        self._vocabulary = Vocabulary()
        self._known_hashes: dict[int, int] = {}
        self._node_bound = 0
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
        """Take in one exchange.

        path: the raw path, percent-encoded.

        Bodies of answers other than 2xx and 3xx are ignored.
        """
        length = path.count("/")
        if status in NO_OPERATION or length > MAX_SEGMENTS or not self._has_room(length):
            return
        self._decision = None
        path = _strip_query(path)
        bodies = () if method == "OPTIONS" else (request, response)  # OPTIONS describes the API, in its own words
        facts = read_bodies(self._hashes, *bodies) if 200 <= status < 400 else None
        node = self._walk(path, facts)
        if facts is not None:
            for name in facts.names:
                self._vocabulary.add(name)
            node.add_exchange(method, self._share_shape(bound_shape(facts.shape)), self._bound_values(facts.scalars))

    def template(self, path: str) -> Template:
        """Return the template of a raw path, as far as the traffic so far shows it. Query and fragment are left out.

        The first call after `learn` decides again, in time that grows with the tree: learn in bulk, then ask in bulk.
        """
        path = _strip_query(path)
        verdicts = [judgement.verdict for judgement in self.judge(path)]
        return place_parameters(
            path,
            [index for index, verdict in enumerate(verdicts) if verdict is Verdict.PARAMETER],
            [index for index, verdict in enumerate(verdicts) if verdict is Verdict.UNDECIDED],
        )

    def forget_decision(self) -> None:
        """Let the next call of `template` decide again even if nothing was learned: for `bench/training/fit.py`."""
        self._decision = None

    def judge(self, path: str) -> list[Judgement]:
        """Return the judgement of each segment of a raw path."""
        node, judgements = self._decide(), list[Judgement]()
        segments, leading = decode_segments(_strip_query(path)), True
        for index, segment in enumerate(segments):
            version = index < len(segments) - 1 and is_version(segment, segments[:index])
            judgement = self._judge_segment(node, segment, scaffold=version or is_scaffold(segment, leading=leading))
            leading = leading and is_scaffold(segment)
            judgements.append(judgement)
            node = node.follow(segment, judgement)
        return judgements

    def _judge_segment(self, node: Decision, segment: str, *, scaffold: bool) -> Judgement:
        if segment in node.judgements:
            return node.judgements[segment]
        if not scaffold and detect_segment_form(segment):
            return DATA_BY_FORM
        return node.judge_new(segment)

    def _walk(self, path: str, facts: ExchangeFacts | None) -> PathNode:
        """Return the node where a path ends. On the way, note how bodies of the exchange use each segment as a value.

        A value that is in a path twice counts at its last position only: in `/tags/tags`, the first is the word and the
        second the tag.
        """
        node, leading = self._root, True
        scalars = dict(facts.scalars) if facts else {}
        holders = facts.holders if facts else {}
        steps: list[tuple[int, PathNode]] = []
        parents: list[int] = []
        segments = decode_segments(path)
        for index, segment in enumerate(segments):
            segment_hash = self._hashes.digest(strip_values(segment))
            version = index < len(segments) - 1 and may_be_version(segment, segments[:index])
            parent, node = node, node.open_branch(segment, segment_hash, leading=leading, version=version)
            node.add_parents(parents)
            parents = [segment_hash] if node is parent.data and not parent.is_crowded else []
            leading = leading and is_scaffold(segment)
            steps.append((segment_hash, node))
        for (segment_hash, step), before in zip(reversed(steps), reversed(["", *segments[:-1]]), strict=True):
            reading = scalars.pop(segment_hash, NO_READING)
            step.echo_reading |= reading | (_read_relation(holders[segment_hash], before) if reading else NO_READING)
        return node

    def _bound_values(self, scalars: Mapping[int, Reading]) -> dict[int, Reading]:
        """Return the values to keep, by hash. Beyond MAX_HASHES, keep those below a limit that falls as more arrive."""
        within_limit = [(value_hash, reading) for value_hash, reading in scalars.items() if value_hash < self._limit]
        readings = {
            self._known_hashes.setdefault(value_hash, value_hash): reading for value_hash, reading in within_limit
        }
        while len(self._known_hashes) > MAX_HASHES:
            self._limit //= 2
            self._known_hashes = {
                value_hash: value_hash for value_hash in self._known_hashes if value_hash < self._limit
            }
            for node in self._root.walk():
                node.forget_from(self._limit)
        return {value_hash: reading for value_hash, reading in readings.items() if value_hash < self._limit}

    def _has_room(self, segments: int) -> bool:
        """Return whether the tree has room for this many more nodes, which are counted only now and then."""
        self._node_bound += segments
        if self._node_bound > MAX_TREE_NODES and not self._full:
            self._node_bound = sum(1 for _ in self._root.walk()) + segments
            self._full = self._node_bound > MAX_TREE_NODES
        return not self._full

    def _share_shape(self, shape: frozenset[str]) -> frozenset[str]:
        """Return an equal shape, the same object each time, to save memory."""
        if len(self._shapes) >= MAX_SHAPES:
            self._shapes.clear()
        return self._shapes.setdefault(shape, shape)

    def _decide(self) -> Decision:
        if self._decision is None:
            self._decision = decide([self._root], self._collect_facts())
        return self._decision

    def _collect_facts(self) -> TrafficFacts:
        nodes = list(self._root.walk())
        position_counts = Counter(segment for node in nodes for segment in node.words)
        hashes = {segment: self._hashes.digest(strip_values(segment)) for segment in position_counts}
        return TrafficFacts(
            vocabulary=self._vocabulary,
            echoed_words=_collect_echoed_words(nodes),
            parts=_collect_parts(nodes),
            position_counts=position_counts,
            scalars=_collect_scalars(nodes, hashes),
            hashes=hashes,
            style=Style(position_counts),
            paths=count_paths(self._root),
        )


def _collect_echoed_words(nodes: Iterable[PathNode]) -> set[str]:
    return {
        word
        for node in nodes
        for word, following in node.words.items()
        if following.echo_reading & (Reading.IDENTITY | Reading.OTHER)
    }


def _collect_parts(nodes: Iterable[PathNode]) -> set[str]:
    branches = [word for node in nodes if node.data is not None for word in node.data.words.items()]
    return {segment for segment, following in branches if following.data is not None}


def _collect_scalars(nodes: Iterable[PathNode], hashes: Mapping[str, int]) -> dict[str, Reading]:
    """Return for each segment the readings of the properties that have it as a value.

    hashes: the hash of each segment.
    """
    segments = {segment_hash: segment for segment, segment_hash in hashes.items()}
    scalars: dict[str, Reading] = {}
    for node in nodes:
        for segment_hash in node.value_readings.keys() & segments.keys():
            segment = segments[segment_hash]
            scalars[segment] = scalars.get(segment, NO_READING) | node.value_readings[segment_hash]
    return scalars


def decode_segments(path: str) -> list[str]:
    """Return the segments of a raw path, decoded and without the values inside them."""
    return [unquote(replace_values(segment, _omit_value)) for segment in split_segments(path)]


def _omit_value(name: str, value: str) -> str:
    return ""


def _read_relation(names: Iterable[str], preceding_segment: str) -> Reading:
    """Return RELATED if a property is named after the preceding segment: `user` or `user_name` after `users`."""
    words = split_words(preceding_segment)
    last = singularize(words[-1]) if words else ""
    return Reading.RELATED if any(last in split_words(name) for name in names) else NO_READING


def _strip_query(path: str) -> str:
    return path.partition("?")[0].partition("#")[0]
