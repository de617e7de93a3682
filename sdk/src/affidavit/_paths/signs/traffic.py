"""Facts about all traffic together, which the signs of a single segment use."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from affidavit._paths.words.property_names import Reading
from affidavit._paths.words.vocabulary import Vocabulary
from affidavit._paths.words.writing_style import Style


@dataclass(frozen=True)
class TrafficFacts:
    """Facts about all traffic together.

    echoed_words: segments that were the value of a property, not of an enumeration, in bodies of their own exchange.
    parts: segments that occur between data, such as `items` in `orders/17/items/3`.
    position_counts: the number of different positions in the tree of paths where each segment occurs.
    scalars: for each segment, the `Reading` of the properties that have it as a value.
    hashes: the hash of each segment.
    style: how the API writes its words.
    paths: the number of different paths.
    """

    vocabulary: Vocabulary
    echoed_words: Set[str]
    parts: Set[str]
    position_counts: Mapping[str, int]
    scalars: Mapping[str, Reading]
    hashes: Mapping[str, int]
    style: Style
    paths: int
