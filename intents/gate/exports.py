"""Confirmations as they are downloaded: one row for each, columns named as in contract §5."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from intents.gate.args_hashes import show_args_hash
from intents.models import Confirmation

CONFIRMATION_COLUMNS = (
    *("confirmationId", "state", "sub", "operation", "argsHash", "summary", "createdAt", "expiresAt"),
    *("decidedAt", "decidedBy", "usedAt", "toolCallId"),
)


def list_confirmation_rows(confirmations: Iterable[Confirmation], now: datetime) -> Iterator[Sequence[Any]]:
    return (_list_confirmation_cells(confirmation, now) for confirmation in confirmations)


def _list_confirmation_cells(confirmation: Confirmation, now: datetime) -> Sequence[Any]:
    """Return the cells of one row; the time of an event that has not happened is null."""
    return (
        str(confirmation.pk),
        confirmation.state_at(now),
        confirmation.sub,
        confirmation.operation,
        show_args_hash(confirmation, now) or None,
        confirmation.summary,
        confirmation.created_at,
        confirmation.expires_at,
        confirmation.decided_at,
        confirmation.decided_by or None,
        confirmation.used_at,
        confirmation.tool_call_id or None,
    )
