"""The filters and the order of the list of operations, read from the page's address (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wire.address_members import read_text
from wire.text.search_words import read_search_words

# The columns that the list can be sorted by: the value of `sort=`, the title, and the CSS class
SORTED_COLUMNS = (
    ("path", "Path", ""),
    ("observations", "Observations", "num"),
    ("properties", "Properties", "num"),
    ("first", "First seen", ""),
    ("last", "Last seen", ""),
)
SORT_KEYS = frozenset(key for key, _, _ in SORTED_COLUMNS)
STATUS_CLASSES = ("2xx", "3xx", "4xx", "5xx")
# The values of `show=`, which narrow the list; `new`, `drifted` and `unseen` depend on the period of the page.
SUBSETS = {
    "unknown": "with several or unknown types",
    "new": "new in this period",
    "drifted": "drifted in this period",
    "unseen": "not seen in this period",
    "verified": "checked by a backend",
    "unverified": "never checked by a backend",
}


@dataclass(frozen=True)
class OperationFilters:
    """The filters and the order of the list of operations. Invalid values in the address are ignored."""

    query: str = ""
    method: str = ""
    status: str = ""
    subset: str = ""
    sort: str = "path"

    @classmethod
    def from_address(cls, address: Mapping[str, str]) -> OperationFilters:
        status = address.get("status", "")
        subset, sort = address.get("show", ""), address.get("sort", "")
        return cls(
            query=read_text(address, "q"),
            method=read_text(address, "method").upper(),
            status=status.strip().lower() if expand_status(status) else "",
            subset=subset if subset in SUBSETS else "",
            sort=sort if sort in SORT_KEYS else "path",
        )

    @property
    def words(self) -> Sequence[str]:
        """Return the words that the path, a property's name or its type must contain."""
        return read_search_words(self.query)

    @property
    def statuses(self) -> list[str]:
        return expand_status(self.status)

    @property
    def is_active(self) -> bool:
        return bool(self.words or self.method or self.status or self.subset)


def expand_status(status: str) -> list[str]:
    """Return all statuses of a class (`4xx`), or the status itself (`404`); [] for anything else."""
    status = status.strip().lower()
    if status in STATUS_CLASSES:
        first = int(status[0]) * 100
        return [str(number) for number in range(first, first + 100)]
    return [status] if len(status) == 3 and status.isascii() and status.isdigit() else []
