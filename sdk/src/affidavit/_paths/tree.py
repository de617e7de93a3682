"""The tree of the paths that were seen, with facts about each segment.

Segments that are data by their form share one branch and leave no text; only words are kept as they are.
Whatever the order of arrival, the same exchanges make the same tree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from .exchange_facts import bound_shape
from .segment_form import detect_segment_form
from .versions import is_scaffold, is_version
from .words.property_names import NO_READING, Reading

MAX_WORDS = 500  # different words in one node; no API has so many, so all of them are data
MAX_DATA = 8  # different data segments after one node that are counted; more count as this many
MAX_PARENTS = 4  # how many different data segments before a word are counted


class PathNode:
    """A node of the tree: the end of a path, or the position before its next segment.

    A reading is the kind of values that the name of a property promises (`Reading`).

    words: branches by decoded segment.
    data: the one branch of all data.
    echo_reading: readings of the properties whose value, in the same exchange, was the segment that leads here.
    value_readings: for the hash of each value, readings of the properties that had this value in exchanges whose path
        ends here.
    shapes: shapes of these exchanges by method; empty without JSON.
    constant: whether only `0` leads here.
    parents: hashes of the data segments directly before this one.
    """

    __slots__ = (
        "constant", "data", "data_hashes", "echo_reading", "is_crowded", "parents", "shapes", "value_readings", "words",
    )  # fmt: skip

    def __init__(self) -> None:
        self.words: dict[str, PathNode] = {}
        self.data: PathNode | None = None
        self.data_hashes: frozenset[int] = frozenset()
        self.is_crowded = False
        self.constant = False
        self.echo_reading = NO_READING
        self.parents: frozenset[int] = frozenset()
        self.value_readings: dict[int, Reading] = {}
        self.shapes: dict[str, frozenset[str]] = {}

    @property
    def data_count(self) -> int:
        """Return how many different segments are known to be data; the constant `0` does not count."""
        if self.data is None or self.data.constant:
            return 0
        return MAX_DATA if self.is_crowded else len(self.data_hashes)

    def open_branch(self, segment: str, segment_hash: int, *, leading: bool, version: bool = False) -> PathNode:
        """Return the node that a decoded segment leads to.

        leading: whether only scaffold, such as `api` or `v2`, comes before the segment.
        version: whether the segment may be the version of the API.
        """
        scaffold = version or is_scaffold(segment, leading=leading)
        if scaffold or not (self.is_crowded or detect_segment_form(segment)):
            return self._open_word(segment)
        self.data_hashes = frozenset(sorted(self.data_hashes | {segment_hash})[:MAX_DATA])
        return self._open_data(constant=len(self.data_hashes) == 1 and segment == "0")

    def add_parents(self, hashes: Collection[int]) -> None:
        """Remember data that came right before the segment that leads here."""
        if hashes:
            self.parents = frozenset(sorted(self.parents.union(hashes))[:MAX_PARENTS])

    def add_exchange(self, method: str, shape: frozenset[str], scalars: Mapping[int, Reading]) -> None:
        """Take in one exchange that ended here."""
        self._add_shape(method, shape)
        self._add_values(scalars)

    def forget_from(self, limit: int) -> None:
        """Forget the values whose hash is `limit` or higher."""
        self.value_readings = {
            value_hash: reads for value_hash, reads in self.value_readings.items() if value_hash < limit
        }

    def walk(self) -> Iterator[PathNode]:
        """Yield this node and all nodes below it."""
        yield self
        for node in [*self.words.values(), *([self.data] if self.data else [])]:
            yield from node.walk()

    def _open_data(self, *, constant: bool = False) -> PathNode:
        """Return the node behind data.

        constant: whether the segment that leads there is `0`.
        """
        if self.data is None:
            self.data = PathNode()
            self.data.constant = constant
        self.data.constant = self.data.constant and constant
        return self.data

    def _open_word(self, segment: str) -> PathNode:
        existing = self.words.get(segment)
        if existing is not None:
            return existing
        if self.is_crowded and not is_scaffold(segment, leading=False):
            return self._open_data()
        node = self.words[segment] = PathNode()
        if self.is_crowded or len(self.words) <= MAX_WORDS:
            return node
        self._turn_words_into_data()
        return self._open_word(segment)

    def _turn_words_into_data(self) -> None:
        """Treat all segments here except scaffold as data, because there are too many for words."""
        self.is_crowded = True
        words, self.words = self.words, {}
        for segment, node in words.items():
            self._open_word(segment).absorb(node)  # scaffold stays a word, all else is data
        self._forget_parents()

    def absorb(self, source: PathNode) -> None:
        """Take in all that another node has, as if all of its exchanges had arrived here."""
        if source.is_crowded and not self.is_crowded:
            self._turn_words_into_data()
        for segment, node in source.words.items():
            self._open_word(segment).absorb(node)
        self.data_hashes = frozenset(sorted(self.data_hashes | source.data_hashes)[:MAX_DATA])
        if source.data is not None:
            self._open_data(constant=source.data.constant and len(self.data_hashes) == 1).absorb(source.data)
        self._forget_parents()
        self.echo_reading |= source.echo_reading
        self.add_parents(source.parents)
        self._add_values(source.value_readings)
        for method, shape in source.shapes.items():
            self._add_shape(method, shape)

    def _forget_parents(self) -> None:
        """Forget the parents of the words after data if this node is crowded.

        Its data then includes former words, and which of these came before each word was not recorded.
        """
        if self.is_crowded and self.data is not None:
            for node in self.data.words.values():
                node.parents = frozenset()

    def _add_shape(self, method: str, shape: frozenset[str]) -> None:
        existing = self.shapes.get(method)
        if existing is None:
            self.shapes[method] = shape  # one object for all places with this shape
        elif not shape <= existing:
            self.shapes[method] = bound_shape(existing | shape)

    def _add_values(self, scalars: Mapping[int, Reading]) -> None:
        for value_hash, reads in scalars.items():
            self.value_readings[value_hash] = self.value_readings.get(value_hash, NO_READING) | reads


def split_segments(path: str) -> list[str]:
    """Split a path into its segments, still encoded: `/orders/17` -> `orders`, `17`."""
    return path.split("/")[1:]


def is_leading(before: Sequence[str | None]) -> bool:
    """Return whether `before` has only scaffold, such as `api` or `v2`. None in it is a parameter."""
    return all(
        segment is not None and (is_scaffold(segment) or is_version(segment, before[:index]))
        for index, segment in enumerate(before)
    )


def count_paths(node: PathNode) -> int:
    """Return how many different paths end at a node or below it; all data counts as one segment."""
    return bool(node.shapes) + sum(map(count_paths, [*node.words.values(), *([node.data] if node.data else [])]))


def group_branches(nodes: Iterable[PathNode]) -> dict[str, list[PathNode]]:
    """Return the nodes that follow `nodes` after words, by word."""
    branches: dict[str, list[PathNode]] = {}
    for node in nodes:
        for segment, following in node.words.items():
            branches.setdefault(segment, []).append(following)
    return branches
