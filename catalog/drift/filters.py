"""The filters of the drift feed, read from an address (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from catalog.change_kinds import CHANGE_KINDS
from wire.address_members import read_text
from wire.text.search_words import read_search_words

BREAKING_ONLY, COMPATIBLE_ONLY = "1", "no"  # `breaking` in the address
NEW_ONLY = "1"  # `new` in the address


@dataclass(frozen=True)
class DriftFilters:
    """The filters of the drift feed. Members of the address that are not valid are ignored.

    method, path: the operation whose changes are shown, "" for all operations.
    breaking, compatible: whether only changes are shown that break somebody, or nobody.
    is_new: whether only changes are shown that nobody has acknowledged and that are not muted.
    """

    query: str = ""
    method: str = ""
    path: str = ""
    kind: str = ""
    breaking: bool = False
    compatible: bool = False
    is_new: bool = False

    @classmethod
    def from_address(cls, address: Mapping[str, str]) -> DriftFilters:
        kind = address.get("kind", "")
        return cls(
            query=read_text(address, "q"),
            method=read_text(address, "method"),
            path=read_text(address, "path"),
            kind=kind if kind in CHANGE_KINDS else "",
            breaking=address.get("breaking") == BREAKING_ONLY,
            compatible=address.get("breaking") == COMPATIBLE_ONLY,
            is_new=address.get("new") == NEW_ONLY,
        )

    @property
    def has_impact(self) -> bool:
        """Return whether only breaking changes are shown, or only compatible ones."""
        return self.breaking or self.compatible

    @property
    def words(self) -> Sequence[str]:
        """Return the words that the operation's path or the pointer of the change must contain."""
        return read_search_words(self.query)

    @property
    def is_active(self) -> bool:
        return bool(self.words or self.method or self.path or self.kind or self.has_impact or self.is_new)
