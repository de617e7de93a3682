"""Signs that the neighbours of a path segment give: how many are data, and whether they answer alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from affidavit._paths.response_similarity import (
    ALIKE_SIMILARITY,
    UNLIKE_SIMILARITY,
    Shapes,
    collect_shapes,
    measure_similarity,
)
from affidavit._paths.segments import strip_values

from .segment import Siblings
from .text import list_text_signs

MAX_COMPARED = 12  # neighbours of one kind whose answers are compared
SURE_DATA = 0.7  # probability at the first look above which a neighbour counts as data
SURE_WORD = 0.1  # probability at the first look below which a neighbour counts as a word
CROWD_SIZE = 9  # siblings that make a crowd


def list_sibling_signs(siblings: Siblings, segment: str, probabilities: Mapping[str, float]) -> Iterator[str]:
    """Yield the signs that the neighbours of a segment give.

    probabilities: for each segment, the probability that it is data, judged alone.
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
