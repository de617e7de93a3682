"""One rejection, and everything else that is known of its tool call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import merge
from itertools import takewhile
from typing import Any

from django.db.models import Min, QuerySet, Sum

from intents.models import Confirmation, MintedIntent, Rejection
from wire.time.period import ceil_to_quarter, floor_to_quarter
from wire.time.timestamps import unix_seconds
from workspaces.models import Environment

AROUND = timedelta(days=1)  # how far before and after a rejection to look for others
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


def find_rejection(environment: Environment, occurred_at: datetime | None, number: int | None) -> Rejection | None:
    """Return the rejection with this time and id, if any. The table is partitioned by time, so both are needed."""
    if occurred_at is None or number is None:
        return None
    rejections = Rejection.objects.filter(environment=environment, occurred_at=occurred_at, id=number)
    return rejections.select_related("api_key", "environment__workspace").first()


@dataclass(frozen=True)
class AlikeRejections:
    """The calls of one operation that were rejected for one reason within a day before or after a rejection.

    calls: their number.
    since: when the first of them was rejected.
    start, end: the time that was searched. It has whole quarter hours, so that the page of rejections can list the same
        rejections.
    """

    calls: int
    since: datetime
    start: datetime
    end: datetime


def find_alike(environment: Environment, rejection: Rejection) -> AlikeRejections:
    """Sum the rejections with the same reason and operation around the time of `rejection`, which is included."""
    start = floor_to_quarter(rejection.occurred_at - AROUND)
    end = ceil_to_quarter(rejection.occurred_at + AROUND)
    alike = Rejection.objects.filter(
        environment=environment, occurred_at__gte=start, occurred_at__lt=end,
        reason=rejection.reason, operation=rejection.operation,
    )  # fmt: skip
    totals = alike.aggregate(calls=Sum("count"), since=Min("occurred_at"))
    return AlikeRejections(totals["calls"] or 0, totals["since"] or rejection.occurred_at, start, end)


def find_intent(environment: Environment, rejection: Rejection) -> MintedIntent | None:
    """Return the last intent that the hub minted for a rejection's tool call before the rejection, if any.

    All environments that the reader may see are searched: an intent of another one explains an `audience-mismatch`.
    """
    if not rejection.tool_call_id:
        return None
    intents = select_intents_before(environment, rejection)
    return intents.select_related("environment").order_by("-issued_at", "-id").first()


def select_intents_before(environment: Environment, rejection: Rejection) -> QuerySet[MintedIntent]:
    """Return the intents that were minted for a rejection's tool call before the rejection.

    They are of all environments that the reader may see.
    """
    environments = list(environment.readable.values_list("pk", flat=True))
    return MintedIntent.objects.filter(
        environment__in=environments, tool_call_id=rejection.tool_call_id, issued_at__lte=rejection.occurred_at
    )


@dataclass(frozen=True)
class OperationDifference:
    """A signed operation and the called operation: their common start and end, and what differs in between."""

    start: str
    signed_part: str
    called_part: str
    end: str

    @property
    def is_last_slash(self) -> bool:
        """Return whether a slash at the end is the only difference."""
        return not self.end and {self.signed_part, self.called_part} == {"/", ""}


def compare_operations(signed_operation: str, called_operation: str) -> OperationDifference | None:
    """Return the difference; None if they are the same, or if the called operation was not reported."""
    if not called_operation or signed_operation == called_operation:
        return None
    start = _count_shared(signed_operation, called_operation)
    end = _count_shared(signed_operation[start:][::-1], called_operation[start:][::-1])
    signed_end, called_end = len(signed_operation) - end, len(called_operation) - end
    return OperationDifference(
        signed_operation[:start],
        signed_operation[start:signed_end],
        called_operation[start:called_end],
        signed_operation[signed_end:],
    )


def _count_shared(one_text: str, other_text: str) -> int:
    """Return the length of the longest common prefix of two texts."""
    pairs = zip(one_text, other_text, strict=False)  # the longer one may go on
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


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
