"""The filters of confirmations, read from a page's address (pure). No address makes the page fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from intents.models import Confirmation
from wire.address_members import parse_uuid, read_text

STATES = (
    Confirmation.PENDING,
    Confirmation.CONFIRMED,
    Confirmation.DECLINED,
    Confirmation.USED,
    Confirmation.EXPIRED,
)


@dataclass(frozen=True)
class ConfirmationFilters:
    """The filters of confirmations; an empty string filters nothing.

    state: one of STATES.
    user: the exact `sub`.
    operation: the operation, or only its path; each {name} in it stands for any one segment.
    confirmation_id: the only confirmation to show, whenever it was requested; None shows all.
    """

    state: str = ""
    user: str = ""
    operation: str = ""
    confirmation_id: UUID | None = None

    def __bool__(self) -> bool:
        return bool(self.state or self.user or self.operation or self.confirmation_id)


def parse_confirmation_filters(query: Mapping[str, str]) -> ConfirmationFilters:
    """Read `state`, `user`, `operation` and `id`; an unknown state or an unreadable id filters nothing."""
    state = query.get("state", "")
    return ConfirmationFilters(
        state if state in STATES else "",
        read_text(query, "user"),
        read_text(query, "operation").strip(),
        parse_uuid(query.get("id", "")),
    )
