"""Signs that the neighbours of a path segment give: how many are data, and whether they answer alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice

from affidavit._paths.embedded_values import strip_values
from affidavit._paths.response_similarity import (
    ALIKE_SIMILARITY,
    UNLIKE_SIMILARITY,
    Shapes,
    collect_shapes,
    measure_similarity,
)

from .siblings import Siblings
from .text import list_text_signs

MAX_COMPARED = 12  # neighbours of one kind whose answers are compared
SURE_DATA = 0.7  # probability at the first look above which a neighbour counts as data
SURE_WORD = 0.1  # probability at the first look below which a neighbour counts as a word
CROWD_SIZE = 9  # siblings that make a crowd


class Neighbourhood:
    """The segments of one position, sorted once by the first look for all signs that they give to each other.

    probabilities: for each segment, the probability that it is data, judged alone.
    """

    def __init__(self, siblings: Siblings, probabilities: Mapping[str, float]) -> None:
        self.siblings = siblings
        words = sorted(word for word in siblings.words if not siblings.is_fixed(word))
        self.data = dict.fromkeys(word for word in words if probabilities[word] > SURE_DATA)
        self.others = dict.fromkeys(word for word in words if word not in self.data)
        self.sure_words = frozenset(word for word in words if probabilities[word] < SURE_WORD)
        self._data_texts = Counter(list_text_signs(strip_values(word)) for word in self.data)
        self._data_shapes: dict[tuple[str, ...], Shapes] = {}

    def count_data_like(self, segment: str) -> int:
        """Return how many of the data beside a segment read like it."""
        return self._data_texts[list_text_signs(strip_values(segment))] - (segment in self.data)

    def collect_data_shapes(self, segment: str) -> Shapes | None:
        """Return the shapes of the data beside a segment; None if there is no data."""
        words = _choose_beside(segment, self.data)
        if words not in self._data_shapes:
            self._data_shapes[words] = collect_shapes(self.siblings.collect_data(frozenset(words)))
        return self._data_shapes[words] if words or self.siblings.data else None


def _count_beside(segment: str, words: Collection[str]) -> int:
    return len(words) - (segment in words)


def _choose_beside(segment: str, words: Iterable[str]) -> tuple[str, ...]:
    """Return the first words beside a segment: those whose answers are compared."""
    return tuple(islice((word for word in words if word != segment), MAX_COMPARED))


def list_sibling_signs(neighbourhood: Neighbourhood, segment: str) -> Iterator[str]:
    """Yield the signs that the neighbours of a segment give."""
    siblings = neighbourhood.siblings
    data_count = _count_beside(segment, neighbourhood.data)
    other_count = _count_beside(segment, neighbourhood.others)
    word_count = _count_beside(segment, neighbourhood.sure_words)
    yield from siblings.place_signs(
        _compare_numbers(siblings.data_count, data_count, word_count, other_count - word_count)
    )
    if data_count:
        alike = neighbourhood.count_data_like(segment)
        yield "reads like the data beside it" if 3 * alike >= data_count else "reads unlike the data beside it"
    likenesses = set[str]()
    own = siblings.collect_shapes(segment)
    data_shapes = neighbourhood.collect_data_shapes(segment)
    if data_shapes is not None:
        likenesses.add(likeness := _name_likeness(measure_similarity(own, data_shapes)))
        yield f"{likeness} the data beside it"
    other_words = _choose_beside(segment, neighbourhood.others)
    if other_words:
        likenesses.add(likeness := _name_likeness(_measure_median(siblings, own, other_words)))
        yield f"{likeness} the words beside it"
        if likeness == "answers like" and data_count + other_count + siblings.data_count >= CROWD_SIZE:
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
    """Yield the signs that say how many neighbours of each kind a segment has.

    values: the neighbours that are data by their form.
    data, words: the neighbours that are surely data, and those that are surely words.
    unsure: all other neighbours.
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
