"""The filters of the catalog's list and of the drift feed, out of an address (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from catalog.drift_kinds import CHANGE_KINDS

# By what a list can be sorted: the member of the address, the column's title and its class
SORTED_COLUMNS = (
    ("path", "Path", ""),
    ("observations", "Observations", "num"),
    ("properties", "Properties", "num"),
    ("first", "First seen", ""),
    ("last", "Last seen", ""),
)
SORTS = frozenset(key for key, _, _ in SORTED_COLUMNS)
STATUS_CLASSES = ("2xx", "3xx", "4xx", "5xx")
# What `show=` narrows a list to; the last two go by the range that is being looked at.
SHOWS = (
    ("unknown", "with an unknown type"),
    ("drifted", "drifted in this time"),
    ("unseen", "not seen in this time"),
)
MAX_WORDS = 10


@dataclass(frozen=True)
class Filters:
    """Which operations are listed, and in which order. What an address gets wrong is left out."""

    query: str = ""
    method: str = ""
    status: str = ""
    show: str = ""
    sort: str = "path"

    @classmethod
    def of(cls, address: Mapping[str, str]) -> Filters:
        sort = address.get("sort", "")
        status = address.get("status", "").strip().lower()
        return cls(
            query=address.get("q", "").replace("\0", ""),
            method=address.get("method", "").replace("\0", "").upper(),
            status=status if statuses_of(status) else "",
            show=one_of((key for key, _ in SHOWS), address.get("show", "")),
            sort=sort if sort in SORTS else "path",
        )

    @property
    def words(self) -> Sequence[str]:
        """What must stand in a path, a property name or its type, each of them, whatever its case."""
        return words_of(self.query)

    @property
    def statuses(self) -> list[str]:
        return statuses_of(self.status)

    @property
    def narrowing(self) -> bool:
        return bool(self.words or self.method or self.status or self.show)


@dataclass(frozen=True)
class DriftFilters:
    """Which changes the feed shows."""

    query: str = ""
    kind: str = ""
    breaking: bool = False

    @classmethod
    def of(cls, address: Mapping[str, str]) -> DriftFilters:
        return cls(
            query=address.get("q", "").replace("\0", ""),
            kind=one_of(CHANGE_KINDS, address.get("kind", "")),
            breaking=bool(address.get("breaking")),
        )

    @property
    def words(self) -> Sequence[str]:
        """What must stand in the operation's path or the place of the change, each of them."""
        return words_of(self.query)

    @property
    def narrowing(self) -> bool:
        return bool(self.words or self.kind or self.breaking)


def words_of(query: str) -> list[str]:
    return query.casefold().split()[:MAX_WORDS]


def one_of(known: Iterable[str], given: str) -> str:
    return given if given in known else ""


def statuses_of(status: str) -> list[str]:
    """`404` → itself; `4xx` → all of them; anything else → none."""
    if status in STATUS_CLASSES:
        first = int(status[0]) * 100
        return [str(number) for number in range(first, first + 100)]
    return [status] if len(status) == 3 and status.isascii() and status.isdigit() else []
