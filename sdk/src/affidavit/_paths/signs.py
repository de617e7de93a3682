"""Signs for and against a path segment being data: each has a name, and is present or absent (contract 4).

The weights of the signs are in `weights`; `bench/fit_paths.py` fits them on recordings of many APIs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache

from .response_similarity import (
    ALIKE_SIMILARITY,
    UNLIKE_SIMILARITY,
    Shapes,
    collect_shapes,
    measure_similarity,
)
from .segments import strip_ending, strip_values
from .templates import is_scaffold, may_be_version
from .tree import NO_READING, PathNode, is_leading
from .vocabulary import STRANGE_ORIGINS, Style, Vocabulary, begins_with_action, find_origin, is_action
from .words import Reading, singularize, split_words

PLACED_SIGNS = frozenset({
    "data follows", "words follow", "several words follow", "nothing follows", "is changed or deleted",
    "word of a property name",    "no word of a property name", "value of an identifying property of its own exchange",
    "value of an identifying property right before", "value of an identifying property elsewhere", "has a hyphen",
    "a plural", "echoed in another place", "alone", "values beside it", "data beside it", "words beside it",
    "more data than words beside it", "more unsure than words beside it", "far more words than data beside it",
    "goes on as others beside it do", "reads like a domain",
    "very many words beside it", "several unsure beside it", "many unsure beside it", "one of very many strange words",
    "a word of many APIs", "a word of several APIs", "made of words of many APIs", "made of words of several APIs",
    "made partly of words of other APIs", "made of words that no other API has",
    "nothing follows a word that no other API has", "most paths go through it", "a tenth of all paths goes through it",
})  # fmt: skip
"""Signs whose meaning depends on the place: at the beginning, behind data or behind a word."""

Prefix = tuple["str | None", ...]
"""The segments before a position, None for a parameter."""

NEVER_SEEN = "never seen here"
"""Every segment that is judged in a recording was seen in it, so no weight of this sign can be fitted."""

KNOWN_WORDS = frozenset({"word of a property name", "an action"})

LEAST_PATHS = 8  # below this, the number of paths through a segment is no sign
MAX_COMPARED = 12  # siblings whose continuations are compared
SURE_DATA = 0.7  # probability at the first look from which a neighbour counts as data
SURE_WORD = 0.1  # probability at the first look below which a neighbour counts as a word
CROWD_OF_STRANGE = 12
CROWD_SIZE = 9  # siblings that make a crowd
LONG_TEXT = 20  # characters
SHORT_TEXT = 2  # characters

_ODD_SIGN = re.compile(r"[^\w.$-]|[^\x00-\x7f]")
_CAMEL = re.compile(r"[a-z]+(?:[A-Z][a-z]+)+")
_CAPITALISED = re.compile(r"(?:[A-Z][a-z]+){2,}")
_DOMAIN = re.compile(r"(?:[a-z0-9_-]+\.)+[a-z]{2,}\.?|(?:[A-Z0-9_-]+\.)+[A-Z]{2,}\.?")
_RUN = re.compile(r"[0-9]+|[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]+")
_CONSONANTS = re.compile(r"[b-df-hj-np-tv-xz]{5}", re.IGNORECASE)
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)


@dataclass(frozen=True)
class TrafficFacts:
    """Facts about all traffic together.

    echoed_words: those that were the value of a property in the bodies of their own exchange.
    parts: segments that occur between data, such as `items` in `orders/17/items/3`.
    places: the number of different segments after which each segment occurs.
    scalars: for each segment, the meaning of the properties that have it as a value.
    hashes: the hash of each segment.
    style: how the API writes its words.
    paths: the number of different paths.
    """

    vocabulary: Vocabulary
    echoed_words: Set[str]
    parts: Set[str]
    places: Mapping[str, int]
    scalars: Mapping[str, Reading]
    hashes: Mapping[str, int]
    style: Style
    paths: int


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
        """Return how many different segments are data by their form; a constant such as `0` is none."""
        return max((node.data_count for node in self.nodes), default=0)

    def is_fixed(self, segment: str) -> bool:
        """Return whether a segment is certainly part of the API: `v2`, `api`, `_`.

        In `templates/welcome/versions/v2`, `v2` may be data: the second version of a template.
        """
        before = self.prefix[-1] if self.prefix else ""
        follows_value = None in self.prefix and before is not None and not is_scaffold(before)
        scaffold = is_scaffold(segment, leading=self.is_leading) and not (follows_value and segment)
        is_known = scaffold or not any(map(str.isalnum, segment))
        return is_known or (segment in self.versions and len(self.versions) == 1 and not self.data)

    def is_known_word(self, segment: str) -> bool:
        """Return whether a property has the name of a segment, or any API has such a word."""
        return segment in self.facts.vocabulary or is_action(segment)

    def is_strange(self, segment: str) -> bool:
        """Return whether neither a property nor the paths of other APIs have the words of a segment."""
        return not self.is_known_word(segment) and find_origin(segment) in STRANGE_ORIGINS

    @cached_property
    def is_crowded(self) -> bool:
        """Return whether there are more words that nothing explains than an API would have in one place."""
        return sum(self.is_strange(word) for word in self.words) > CROWD_OF_STRANGE

    @cached_property
    def versions(self) -> frozenset[str]:
        """Return the segments that may be the API's version, such as `2` in `/2/orders`.

        An API has one version; several are data.
        """
        return frozenset() if self.prefix else frozenset(filter(may_be_version, self.words))

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
        """Yield each sign, and a second time with the place if its meaning depends on the place."""
        for sign in signs:
            yield sign
            if sign in PLACED_SIGNS:
                yield f"{sign}, {self.place}"

    def _list_own_signs(self, segment: str) -> Iterator[str]:
        yield from self.position_signs
        yield from list_text_signs(strip_values(segment))
        yield from self._list_word_signs(strip_values(segment))
        yield from self._list_body_signs(segment)
        yield from self._list_following_signs(segment)

    # --- the position

    @cached_property
    def place(self) -> str:
        """Return the place of the position, in words that follow a sign."""
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

    def _list_word_signs(self, text: str) -> Iterator[str]:
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
        yield from self.facts.style.compare(text)

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
            if find_origin(strip_values(segment)) in STRANGE_ORIGINS:
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
        places = self.facts.places.get(segment, 1)
        if segment in self.facts.echoed_words and not any(node.echo_reading & _STRONG for node in nodes):
            yield "echoed in another place"
        if segment in self.facts.parts:
            yield "stands between data elsewhere"
        if places > 1:
            yield "in several places" if places < 4 else "in many places"

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


def count_paths(node: PathNode) -> int:
    """Return how many different paths end at a node or below it; all data counts as one segment."""
    return bool(node.shapes) + sum(map(count_paths, [*node.words.values(), *([node.data] if node.data else [])]))


def _pass_scaffold(nodes: Iterable[PathNode]) -> Iterator[PathNode]:
    """Yield the nodes, and the nodes that follow `api` or `v2` behind them."""
    for node in nodes:
        yield node
        yield from _pass_scaffold(following for word, following in node.words.items() if word and is_scaffold(word))


_STRONG = Reading.IDENTITY | Reading.OTHER


@lru_cache(maxsize=20_000)
def list_text_signs(text: str) -> tuple[str, ...]:
    """Return the signs in the text of a segment."""
    return tuple(_read_text(text))


def _read_text(text: str) -> Iterator[str]:
    stem, letters = strip_ending(text), [character for character in text if character.isalpha()]
    if stem != text:
        yield "has a file ending"
    if "." in stem:
        yield "reads like a domain" if _DOMAIN.fullmatch(stem) else "has a dot"
    if _ODD_SIGN.search(stem):
        yield "has a sign that no word has"
    if stem.startswith("$"):
        yield "begins with a dollar sign"
    if len(text) > LONG_TEXT:
        yield "long"
    if len(text) <= SHORT_TEXT:
        yield "one or two characters"
    yield from _read_case(stem)
    yield from _read_digits(stem)
    if letters and (not _VOWEL.search(stem) or _CONSONANTS.search(stem)):
        yield "hardly pronounceable"
    if "-" in stem.strip("-"):
        yield "has a hyphen"
    if "_" in stem.strip("_"):
        yield "has an underscore"


def _read_case(stem: str) -> Iterator[str]:
    if stem.islower() or not any(map(str.isalpha, stem)):
        return
    if stem.isupper():
        yield "in capitals"
    elif _CAMEL.fullmatch(stem):
        yield "in camel case"
    elif _CAPITALISED.fullmatch(stem):
        yield "several capitalised words"
    elif stem[:1].isupper() and stem[1:].islower():
        yield "capitalised"
    else:
        yield "in mixed case"


def _read_digits(stem: str) -> Iterator[str]:
    if not any(map(str.isdigit, stem)):
        return
    runs = _RUN.findall(stem)
    if sum(run.isdigit() for run in runs) > 1 or (len(runs) > 3 and len(stem) / len(runs) < 3):
        yield "digits and letters take turns"
    elif stem[-1].isdigit():
        yield "ends with a number"
    else:
        yield "has a number inside"


# --- siblings


def list_sibling_signs(siblings: Siblings, segment: str, probabilities: Mapping[str, float]) -> Iterator[str]:
    """Yield the signs that the neighbours of a segment give.

    probabilities: the probability that each is data, judged alone.
    """
    neighbours = {
        word: probabilities[word] for word in siblings.words if word != segment and not siblings.is_fixed(word)
    }
    data_words = sorted(word for word, probability in neighbours.items() if probability > SURE_DATA)
    sure_words = [word for word, probability in neighbours.items() if probability < SURE_WORD]
    unsure = len(neighbours) - len(data_words) - len(sure_words)
    yield from siblings.place_signs(_compare_numbers(siblings.data_count, len(data_words), len(sure_words), unsure))
    if data_words:
        own_text = list_text_signs(strip_values(segment))
        alike = sum(list_text_signs(strip_values(word)) == own_text for word in data_words)
        yield "reads like the data beside it" if 3 * alike >= len(data_words) else "reads unlike the data beside it"
    likenesses = set[str]()
    own = siblings.collect_shapes(segment)
    nodes = siblings.collect_data(frozenset(data_words[:MAX_COMPARED]))
    if nodes:
        likenesses.add(likeness := _name_likeness(measure_similarity(own, collect_shapes(nodes))))
        yield f"{likeness} the data beside it"
    other_words = sorted(neighbours.keys() - set(data_words))
    if other_words:
        likenesses.add(likeness := _name_likeness(_measure_median(siblings, own, other_words[:MAX_COMPARED])))
        yield f"{likeness} the words beside it"
        if likeness == "answers like" and len(neighbours) + siblings.data_count >= CROWD_SIZE:
            yield "one of a crowd that answers alike"
    if "answers unlike" in likenesses and "answers like" not in likenesses:
        if any(sign.endswith("right before") for sign in siblings.own_signs(segment)):
            yield "named right before, but answers unlike those beside it"
        if "goes on as others beside it do" in siblings.list_continuation_signs(segment):
            yield "goes on as others beside it do, but answers unlike them"
    yield from siblings.place_signs(siblings.list_continuation_signs(segment))
    if siblings.is_crowded and siblings.is_strange(segment):
        yield from siblings.place_signs(["one of very many strange words"])


def _measure_median(siblings: Siblings, own: Shapes, words: Iterable[str]) -> float | None:
    similarities = (measure_similarity(own, siblings.collect_shapes(word)) for word in words)
    comparable = sorted(similarity for similarity in similarities if similarity is not None)
    return comparable[len(comparable) // 2] if comparable else None


def _compare_numbers(values: int, data: int, words: int, unsure: int) -> Iterator[str]:
    """Yield the signs in the numbers of neighbours.

    values: the neighbours that are data by their form.
    data, words: the neighbours that are surely data, and those that are surely words.
    """
    if not values + data + words + unsure:
        yield "alone"
        return
    for number, name in ((values, "values"), (data, "data"), (words, "words"), (unsure, "unsure")):
        for least, amount in ((1, ""), (2, "several "), (5, "many "), (12, "very many ")):
            if number >= least:
                yield f"{amount}{name} beside it"
    if data > words:
        yield "more data than words beside it"
    if unsure > words:
        yield "more unsure than words beside it"
    if words > 4 * (data + unsure):
        yield "far more words than data beside it"


def _name_likeness(similarity: float | None) -> str:
    if similarity is None:
        return "not comparable with"
    if similarity >= ALIKE_SIMILARITY:
        return "answers like"
    return "answers unlike" if similarity < UNLIKE_SIMILARITY else "answers a little like"


def group_branches(nodes: Iterable[PathNode]) -> dict[str, list[PathNode]]:
    """Return the nodes that follow, by segment."""
    branches: dict[str, list[PathNode]] = {}
    for node in nodes:
        for segment, following in node.words.items():
            branches.setdefault(segment, []).append(following)
    return branches


def join_readings(readings: Iterable[Reading]) -> Reading:
    union = NO_READING
    for reading in readings:
        union |= reading
    return union
