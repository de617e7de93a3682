"""Signs for and against a path segment being data: each has a name, and is present or absent (contract §4).

The weights of the signs are in `weights`; `bench/training/fit.py` fits them on recordings of many APIs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property

from affidavit._paths.embedded_values import strip_values
from affidavit._paths.response_similarity import Shapes, collect_shapes
from affidavit._paths.segment_form import detect_segment_form
from affidavit._paths.tree import PathNode, count_paths, group_branches, is_leading
from affidavit._paths.versions import MAX_VERSIONS, is_marked_version, is_scaffold, is_version, may_be_version
from affidavit._paths.words.actions import begins_with_action, is_action
from affidavit._paths.words.property_names import NO_READING, Reading, join_readings
from affidavit._paths.words.singulars import singularize
from affidavit._paths.words.words_of_other_apis import STRANGE_ORIGINS, UNKNOWN_ORIGINS, find_origin
from affidavit._shapes.name_words import split_words

from .named_signs import NEVER_SEEN, PLACED_SIGNS
from .text import list_text_signs
from .traffic import TrafficFacts

Prefix = tuple["str | None", ...]
"""The segments before a position, None for a parameter."""

LEAST_PATHS = 8  # below this, the number of paths through a segment is no sign
CROWD_OF_STRANGE = 12
LEAST_FOLLOWING = 3  # different words behind the version of an API


class Siblings:
    """The segments of one position: all that follow the same words and parameters.

    words: nodes by segment.
    """

    def __init__(self, nodes: Sequence[PathNode], facts: TrafficFacts, prefix: Prefix) -> None:
        self.nodes = nodes
        self.facts = facts
        self.prefix = prefix
        self.words = group_branches(nodes)
        self.data = [node.data for node in nodes if node.data is not None]
        self._shapes: dict[str, Shapes] = {}
        self._own_signs: dict[str, tuple[str, ...]] = {}

    @cached_property
    def is_leading(self) -> bool:
        return is_leading(self.prefix)

    @cached_property
    def data_count(self) -> int:
        """Return how many different segments are data by their form, up to a bound; none if `0` is the only one."""
        return max((node.data_count for node in self.nodes), default=0)

    def is_fixed(self, segment: str) -> bool:
        """Return whether a segment is certainly part of the API: `v2`, `api`, `_`.

        In `templates/welcome/versions/v2`, `v2` may be data: the second version of a template.
        """
        before = self.prefix[-1] if self.prefix else ""
        follows_value = None in self.prefix and before is not None and not is_scaffold(before)
        scaffold = is_scaffold(segment, leading=self.is_leading) and not (follows_value and segment)
        if scaffold or not any(map(str.isalnum, segment)):
            return True
        return self._is_marked_version(segment) or (segment in self.versions and self._is_api_version(segment))

    def _is_api_version(self, segment: str) -> bool:
        """Return whether a segment reads like a version, as no other here does, and is where APIs have their version.

        It may also stand behind another word (`/geo/1.0/direct`), if most paths go through it, on to several words.
        """
        if len(self.versions) > 1 or self.data:
            return False
        nodes = self.words[segment]
        return is_version(segment, self.prefix) or (
            may_be_version(segment, self.prefix)
            and 2 * sum(map(count_paths, nodes)) > self.facts.paths >= LEAST_PATHS
            and len(self._following_words(segment)) >= LEAST_FOLLOWING
        )

    def _is_marked_version(self, segment: str) -> bool:
        """Return whether a segment is a version of the API behind words: `/services/data/v62.0/query`."""
        return is_marked_version(segment, self.prefix) and self._has_versions_of_api

    @cached_property
    def _has_versions_of_api(self) -> bool:
        """Return whether the segments that read like versions are those of the API.

        An API may answer a few versions side by side. Then several words follow them, and most paths go through them or
        many words follow. The releases of a product are more, or one word follows them all.
        """
        versions = [word for word in self.words if is_marked_version(word, self.prefix)]
        if self.data or len(versions) > MAX_VERSIONS:
            return False
        nodes = [node for word in versions for node in self.words[word]]
        following = {word for node in nodes for word in node.words if word}
        if len(following) < 2:
            return False
        most = 2 * sum(map(count_paths, nodes)) > self.facts.paths
        return most or sum(not is_action(word) for word in following) >= LEAST_FOLLOWING

    def is_known_word(self, segment: str) -> bool:
        """Return whether a segment is the name of a property, or an action, which can occur in any API."""
        return segment in self.facts.vocabulary or is_action(segment)

    def is_strange(self, segment: str) -> bool:
        """Return whether a segment is no known word, and other APIs do not have all of its words in their paths.

        A name in a namespace is not strange: other names in that namespace have words that occur in other APIs.
        """
        is_known = self.is_known_word(segment) or self.is_in_namespace(segment)
        return not is_known and find_origin(segment) in STRANGE_ORIGINS

    def is_in_namespace(self, segment: str) -> bool:
        """Return whether a segment is in a namespace of the API, and most of its neighbours go on with other words.

        `gateways` follows `Lumen.Network` only, but `orders` follows each customer of `/customers/Acme.Sales/orders`.
        """
        if not self.facts.style.is_in_namespace(strip_values(segment)):
            return False
        return bool(self._following_words(segment)) and self._goes_on_in_many_ways

    @cached_property
    def _goes_on_in_many_ways(self) -> bool:
        """Return whether the words behind the segments of this position differ from segment to segment.

        They do unless one word follows more than half of those segments that any word follows. A word that follows one
        segment only does not count.
        """
        number = sum(bool(self._following_words(word)) for word in self.words)
        most = max(self._continuations.values(), default=0)
        return most < 2 or 2 * most <= number

    @cached_property
    def is_crowded(self) -> bool:
        """Return whether more words here are strange than an API would have in one place."""
        return sum(self.is_strange(word) for word in self.words) > CROWD_OF_STRANGE

    @cached_property
    def versions(self) -> frozenset[str]:
        """Return the segments that are data by their form, but may be the API's version, such as `2` in `/2/orders`.

        An API has one version; several are data.
        """
        return frozenset(
            word for word in self.words if not is_scaffold(word, leading=self.is_leading) and detect_segment_form(word)
        )

    def collect_shapes(self, segment: str) -> Shapes:
        if segment not in self._shapes:
            self._shapes[segment] = collect_shapes(self.words.get(segment, ()))
        return self._shapes[segment]

    def collect_data(self, parameters: Set[str]) -> list[PathNode]:
        """Return the nodes behind data.

        parameters: the words that are data.
        """
        return [*self.data, *(node for segment in sorted(parameters) for node in self.words[segment])]

    def list_continuation_signs(self, segment: str) -> Iterator[str]:
        """Yield a sign if a word that follows this segment also follows two of its neighbours."""
        most = max((self._continuations[word] for word in self._following_words(segment)), default=0)
        if most > 2:
            yield "goes on as others beside it do"

    def _following_words(self, segment: str) -> set[str]:
        following = _pass_scaffold(self.words.get(segment, ()))
        return {word for node in following for word in node.words if not is_scaffold(word) and not is_action(word)}

    @cached_property
    def _continuations(self) -> Counter[str]:
        """Return how many segments each word follows."""
        return Counter(word for segment in self.words for word in self._following_words(segment))

    @cached_property
    def position_signs(self) -> frozenset[str]:
        return frozenset(self._list_position_signs())

    def own_signs(self, segment: str) -> tuple[str, ...]:
        """Return the signs of a segment alone, without those of its neighbours."""
        if segment not in self._own_signs:
            self._own_signs[segment] = tuple(self.place_signs(self._list_own_signs(segment)))
        return self._own_signs[segment]

    def place_signs(self, signs: Iterable[str]) -> Iterator[str]:
        """Yield each sign, and once more with the place appended if its meaning depends on the place."""
        for sign in signs:
            yield sign
            if sign in PLACED_SIGNS:
                yield f"{sign}, {self.place}"

    def _list_own_signs(self, segment: str) -> Iterator[str]:
        yield from self.position_signs
        yield from list_text_signs(strip_values(segment))
        yield from self._list_word_signs(strip_values(segment), in_namespace=self.is_in_namespace(segment))
        yield from self._list_body_signs(segment)
        yield from self._list_following_signs(segment)

    # --- the position

    @cached_property
    def place(self) -> str:
        """Return where in a path these segments are, as a text that is appended to a sign."""
        if self.is_leading:
            return "at the beginning"
        return "behind data" if self.prefix[-1] is None else "behind a word"

    def _list_position_signs(self) -> Iterator[str]:
        yield self.place
        before = self.prefix[-1] if self.prefix else ""
        if before is None:
            if all(node.constant for node in self.nodes):
                yield "behind a constant number"
            return
        words = split_words(before)
        if self.is_leading or not words:
            return
        if is_action(before):
            yield "behind an action"
        elif singularize(words[-1]) != words[-1]:
            yield "behind a plural"

    # --- the word itself

    def _list_word_signs(self, text: str, *, in_namespace: bool) -> Iterator[str]:
        vocabulary, words = self.facts.vocabulary, split_words(text)
        if is_action(text):
            yield "an action"
        elif begins_with_action(text):
            yield "begins with an action"
        if text in vocabulary:
            yield "word of a property name"
        elif len(words) > 1 and all(map(vocabulary.knows_word, words)):
            yield "made of words of property names"
        elif words and not any(map(vocabulary.knows_word, words)):
            yield "no word of a property name"
        if words and singularize(words[-1]) != words[-1]:
            yield "a plural"
        yield from self.facts.style.compare(text, in_namespace=in_namespace)

    # --- bodies

    def _list_body_signs(self, segment: str) -> Iterator[str]:
        own_reading = join_readings(node.echo_reading for node in self.words.get(segment, ()))
        segment_hash = self.facts.hashes.get(segment)
        reading_before = (
            join_readings(node.value_readings.get(segment_hash, NO_READING) for node in self.nodes)
            if segment_hash
            else own_reading
        )
        reading_elsewhere = self.facts.scalars.get(segment, NO_READING)
        for reading, name in (
            (Reading.RELATED, "the property named after the segment before"),
            (Reading.IDENTITY, "an identifying property"),
            (Reading.OTHER, "a property"),
            (Reading.ENUMERATION, "an enumeration"),
        ):
            if reading in own_reading:
                yield f"value of {name} of its own exchange"
            elif reading in reading_before:
                yield f"value of {name} right before"
            elif reading in reading_elsewhere:
                yield f"value of {name} elsewhere"
        if not self.is_leading and any(
            pointer.endswith(f".{segment}")
            for node in self.nodes
            for shape in node.shapes.values()
            for pointer in shape
        ):
            yield "property of the answer right before"

    # --- what follows

    def _list_following_signs(self, segment: str) -> Iterator[str]:
        nodes = self.words.get(segment, ())
        if not nodes:
            yield NEVER_SEEN
            yield "nothing follows"
            return
        methods = {method for node in nodes for method in node.shapes}
        following = list(_pass_scaffold(nodes))
        words = {word for node in following for word in node.words if not is_scaffold(word)}
        if any(node.data_count for node in nodes):
            yield "data follows"
        if not words and not any(node.data for node in following):
            yield "nothing follows"
            if find_origin(strip_values(segment)) in UNKNOWN_ORIGINS:
                yield "nothing follows a word that no other API has"
        if any(is_scaffold(word) and word.lower() != "api" and word for node in nodes for word in node.words):
            yield "a version follows"
        if len(words) > 2:
            yield "several words follow"
        if words:
            yield "words follow"
            if any(node.echo_reading & _STRONG for inner in following for node in inner.words.values()):
                yield "an echoed word follows"
        yield from self._list_size_signs(nodes)
        if methods & {"DELETE", "PUT", "PATCH"}:
            yield "is changed or deleted"
        if methods == {"POST"} and not words:
            yield "nothing but POST"
        if any(">" in shape for node in nodes for shape in node.shapes.values()):
            yield "answers a list"
        if self.place == "behind data":
            yield from self._list_parent_signs(nodes)
        position_count = self.facts.position_counts.get(segment, 1)
        if segment in self.facts.echoed_words and not any(node.echo_reading & _STRONG for node in nodes):
            yield "echoed in another place"
        if segment in self.facts.parts:
            yield "stands between data elsewhere"
        if position_count > 1:
            yield "in several places" if position_count < 4 else "in many places"

    def _list_parent_signs(self, nodes: Sequence[PathNode]) -> Iterator[str]:
        """Yield whether a word follows one value or several: a word of the API follows many."""
        if sum(max(1, len(node.parents)) for node in nodes) > 1:
            yield "behind several values"
        elif self.parent_count > 2:
            yield "behind one value of several"

    @cached_property
    def parent_count(self) -> int:
        """Return how many different values precede the words of the position, up to a bound."""
        parent_sets = (frozenset().union(*(word.parents for word in node.words.values())) for node in self.nodes)
        return sum(max(1, len(parents)) for parents in parent_sets)

    def _list_size_signs(self, nodes: Sequence[PathNode]) -> Iterator[str]:
        if self.facts.paths < LEAST_PATHS:
            return
        share = sum(map(count_paths, nodes)) / self.facts.paths
        if share > 0.5:
            yield "most paths go through it"
        elif share > 0.1:
            yield "a tenth of all paths goes through it"


def _pass_scaffold(nodes: Iterable[PathNode]) -> Iterator[PathNode]:
    """Yield the nodes, and the nodes that follow `api` or `v2` behind them."""
    for node in nodes:
        yield node
        yield from _pass_scaffold(following for word, following in node.words.items() if word and is_scaffold(word))


_STRONG = Reading.IDENTITY | Reading.OTHER
