"""What happened to a tool call: its intents, confirmations and rejections, the earliest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from typing import Any

from django.db.models import QuerySet

from intents.models import Confirmation, MintedIntent, Rejection
from wire.time.timestamps import unix_seconds
from workspaces.models import Environment

MAX_EVENTS = 50  # events of each kind on a page; the export has all
RETRY = "intent minted again"
CALL_EVENT_COLUMNS = ("at", "event", "detail", "reason", "count")  # of a CallEvent


@dataclass(frozen=True)
class CallEvent:
    """Something that happened to a tool call.

    reason: why it was rejected.
    count: the number of identical events.
    actor: the person or the key that did it, if any; the detail names it, too.
    intent, confirmation, rejection: the row that was stored with the event, if there is one; the others are None.
    """

    occurred_at: datetime
    kind: str
    detail: str = ""
    reason: str = ""
    count: int = 1
    actor: str = ""
    intent: MintedIntent | None = None
    confirmation: Confirmation | None = None
    rejection: Rejection | None = None

    @property
    def is_retry(self) -> bool:
        return self.kind == RETRY

    def list_cells(self) -> Sequence[Any]:
        """Return the cells of an export, in the order of CALL_EVENT_COLUMNS."""
        return (self.occurred_at, self.kind, self.detail, self.reason, self.count)


def list_call_events(environment: Environment, rejection: Rejection, limit: int | None = None) -> Iterator[CallEvent]:
    """Yield what happened to the tool call of a rejection, the earliest first.

    If the rejection names no tool call, yield only the rejection itself.

    limit: the number of intents and of rejections; None for all.
    """
    if not rejection.tool_call_id:
        return iter([_describe_rejection(rejection)])
    return list_events_of_call(environment, rejection.tool_call_id, limit)


def list_events_of_call(environment: Environment, tool_call_id: str, limit: int | None = None) -> Iterator[CallEvent]:
    """Yield what happened to a tool call, the earliest first; there may be very many events.

    limit: the number of intents and of rejections; None for all.
    """
    conditions = {"environment": environment, "tool_call_id": tool_call_id}
    intents = MintedIntent.objects.filter(**conditions).order_by("issued_at", "id")[:limit]
    rejections = Rejection.objects.filter(**conditions).order_by("occurred_at", "id")[:limit]
    confirmations = list_confirmations_of(intents).iterator()
    return merge(
        sorted((event for item in confirmations for event in _describe_confirmation(item)), key=_read_second),
        _describe_intents(intents.iterator()),
        map(_describe_rejection, rejections.iterator()),
        key=_read_second,
    )


def _read_second(event: CallEvent) -> int:
    """Return the second of an event: intents have whole seconds."""
    return unix_seconds(event.occurred_at)


def list_confirmations_of(intents: QuerySet[MintedIntent]) -> QuerySet[Confirmation]:
    """Return the confirmations of intents without repetition, the earliest first."""
    return Confirmation.objects.filter(pk__in=intents.values("confirmation_id")).order_by("created_at", "pk")


def has_more_events(environment: Environment, tool_call_id: str) -> bool:
    """Return whether a page that lists MAX_EVENTS events of each kind leaves any out."""
    conditions = {"environment": environment, "tool_call_id": tool_call_id}
    rows = (model._default_manager.filter(**conditions) for model in (MintedIntent, Rejection))
    return bool(tool_call_id) and any(of_kind[MAX_EVENTS:].exists() for of_kind in rows)


def _describe_rejection(rejection: Rejection) -> CallEvent:
    return CallEvent(
        rejection.occurred_at,
        "rejected",
        rejection.operation,
        reason=rejection.reason,
        count=rejection.count,
        rejection=rejection,
    )


def _describe_intents(intents: Iterable[MintedIntent]) -> Iterator[CallEvent]:
    """Yield an event for each intent, the earliest first. A second intent for the same call is a retry."""
    calls = set()
    for intent in intents:
        call = (intent.sub, intent.operation, intent.args_hash, intent.confirmation_id)
        kind = RETRY if call in calls else "intent minted"
        calls.add(call)
        yield CallEvent(intent.issued_at, kind, intent.operation, intent=intent)


def _describe_confirmation(confirmation: Confirmation) -> list[CallEvent]:
    created_at, summary = confirmation.created_at, confirmation.summary
    events = [CallEvent(created_at, "confirmation requested", summary, confirmation=confirmation)]
    if confirmation.decided_at:
        actor = confirmation.decided_by
        events.append(CallEvent(confirmation.decided_at, "confirmed", f"by {actor}", actor=actor))
    if confirmation.used_at:
        events.append(CallEvent(confirmation.used_at, "confirmation used"))
    return events
