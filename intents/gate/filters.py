"""The filters of confirmations, read from a page's address (pure); a page never fails over its address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from intents.models import Confirmation
from wire.filters import read_text

STATES = (
    Confirmation.PENDING,
    Confirmation.CONFIRMED,
    Confirmation.DECLINED,
    Confirmation.USED,
    Confirmation.EXPIRED,
)


@dataclass(frozen=True)
class ConfirmationFilters:
    """The exact state and acting user of the confirmations, and their operation; an empty string filters nothing.

    operation: in it, {names} stand for any one segment of the path.
    confirmation_id: the only one to show, of any time; None for all.
    """

    state: str = ""
    user: str = ""
    operation: str = ""
    confirmation_id: UUID | None = None

    def __bool__(self) -> bool:
        return bool(self.state or self.user or self.operation or self.confirmation_id)


def parse_confirmation_filters(query: Mapping[str, str]) -> ConfirmationFilters:
    """Read `state`, `user`, `operation` and `id`; an unknown state and an id that is none filter nothing."""
    state = query.get("state", "")
    return ConfirmationFilters(
        state if state in STATES else "",
        read_text(query, "user"),
        read_text(query, "operation").strip(),
        read_id(query.get("id", "")),
    )


def read_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
