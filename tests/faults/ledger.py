"""A ledger of everything that clients sent, to compare with what the hub stores. It needs no hub.

A client notes each item before it is sent, and then the answer. The hub must store every item at least as often as it
was acknowledged, and at most as often as it was sent and not refused. Refused items must be absent.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Item(NamedTuple):
    """Something that a hub counts: an outcome, a conversation, the observations of an operation."""

    kind: str
    name: str


class Bounds(NamedTuple):
    """How often an item must be stored at least, and may be stored at most."""

    least: int
    most: int


@dataclass
class Row:
    """The comparison for all items of one kind. Numbers are sums over these items; lists contain names of items.

    unanswered: items sent without a final answer, which may be stored or not.
    stored_though_refused: also items that are stored but were never sent.
    """

    acknowledged: int = 0
    unanswered: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    stored_though_refused: list[str] = field(default_factory=list)

    @property
    def is_exact(self) -> bool:
        return not (self.lost or self.doubled or self.stored_though_refused)


class Ledger:
    """The notes of all clients. Several threads may share it."""

    def __init__(self) -> None:
        self._least: Counter[Item] = Counter()
        self._most: Counter[Item] = Counter()
        self._refused: Counter[Item] = Counter()
        self._lock = threading.Lock()

    def note_sent(self, items: Mapping[Item, int]) -> None:
        """Note the items that may be stored from now on. Call it before sending."""
        with self._lock:
            self._most.update(items)

    def note_acknowledged(self, items: Mapping[Item, int]) -> None:
        with self._lock:
            self._least.update(items)

    def note_refused(self, items: Mapping[Item, int]) -> None:
        """Note the items that were refused for good, so that they must not be stored."""
        with self._lock:
            self._most.subtract(items)
            self._refused.update(items)

    def read_bounds(self) -> dict[Item, Bounds]:
        with self._lock:
            return {item: Bounds(self._least[item], most) for item, most in self._most.items()}

    def count_refused(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for item, number in self._refused.items():
            counts[item.kind] += number
        return counts


def compare(bounds: Mapping[Item, Bounds], stored: Mapping[Item, int]) -> dict[str, Row]:
    """Return a row for each kind of item."""
    rows: dict[str, Row] = defaultdict(Row)
    for item in bounds.keys() | stored.keys():
        least, most = bounds.get(item, Bounds(0, 0))
        number, row = stored.get(item, 0), rows[item.kind]
        row.acknowledged += least
        row.unanswered += most - least
        if number < least:
            row.lost.append(f"{item.name}: {number} of {least}")
        elif number > most and most:
            row.doubled.append(f"{item.name}: {number}, at most {most}")
        elif number > most:
            row.stored_though_refused.append(item.name)
    return dict(sorted(rows.items()))
