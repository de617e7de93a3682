"""The filters of the catalog's list, out of its address (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
MAX_WORDS = 10


@dataclass(frozen=True)
class Filters:
    """Which operations are listed, and in which order. What an address gets wrong is left out."""

    query: str = ""
    method: str = ""
    status: str = ""
    sort: str = "path"

    @classmethod
    def of(cls, address: Mapping[str, str]) -> Filters:
        sort = address.get("sort", "")
        status = address.get("status", "").strip().lower()
        return cls(
            query=address.get("q", "").replace("\0", ""),
            method=address.get("method", "").replace("\0", "").upper(),
            status=status if statuses_of(status) else "",
            sort=sort if sort in SORTS else "path",
        )

    @property
    def words(self) -> Sequence[str]:
        """What must stand in a path or a property name, each of them, whatever its case."""
        return self.query.casefold().split()[:MAX_WORDS]

    @property
    def statuses(self) -> list[str]:
        return statuses_of(self.status)

    @property
    def narrowing(self) -> bool:
        return bool(self.words or self.method or self.status)


def statuses_of(status: str) -> list[str]:
    """`404` → itself; `4xx` → all of them; anything else → none."""
    if status in STATUS_CLASSES:
        first = int(status[0]) * 100
        return [str(number) for number in range(first, first + 100)]
    return [status] if len(status) == 3 and status.isascii() and status.isdigit() else []
