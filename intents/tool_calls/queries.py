"""The queries of the list of tool calls: one row for each minted intent, the newest first.

Only the time, the user and step-up have an index. So that no page reads a million rows, counts and searches stop after
MAX_SCANNED intents, and say how far back they reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum

from affidavit.operations import READS
from intents.gate.signed_operation_filter import match_signed_operation
from intents.models import MintedIntent, Rejection
from intents.tool_calls.filters import ASKED, REJECTED, SEVERAL, CallFilters
from wire.list_position import ListPosition
from wire.time.period import Period
from workspaces.models import Environment

# The number of intents that are read at most. To count them takes 15 to 30 ms, and so does a search that finds
# nothing. A count of retried calls takes 25 ms for each month of the period, because each month has its own index.
MAX_SCANNED = 15_000
NEEDS_NO_CONFIRMATION = Q(*(Q(operation__startswith=f"{method} /") for method in sorted(READS)), _connector=Q.OR)


@dataclass(frozen=True)
class CallCounts:
    """The numbers of tool calls and of their intents.

    retried_calls: the calls with several intents.
    confirmation, step_up: the intents that asked for it; confirmation_calls, step_up_calls: their calls.
    since: from when on intents are counted; None if all of the period are.
    """

    calls: int
    intents: int
    retried_calls: int
    confirmation: int
    confirmation_calls: int
    step_up: int
    step_up_calls: int
    since: datetime | None


@dataclass(frozen=True)
class CallPage:
    """A page of the list.

    older: the position after which the next page begins; None if this page is the last.
    searched_since: how far back the search for matching rows went, if it stopped before the page was full.
    """

    rows: Sequence[MintedIntent]
    older: ListPosition[int] | None
    searched_since: datetime | None = None


def has_intents(environment: Environment, user: str = "") -> bool:
    """Return whether the hub keeps an intent that it minted in this environment; with a user, an intent for them."""
    intents = MintedIntent.objects.filter(environment=environment)
    return (intents.filter(sub=user) if user else intents).exists()


def select_intents(environment: Environment, period: Period, filters: CallFilters) -> QuerySet[MintedIntent]:
    """Return the intents of a period that match the filters, the newest first."""
    return _select_indexed(environment, period, filters).filter(_match_unindexed(environment, period, filters))


def count_calls(environment: Environment, period: Period, filters: CallFilters) -> CallCounts:
    """Count the newest intents that match the filters, and their tool calls."""
    intents = _select_indexed(environment, period, filters)
    boundary = _find_boundary(intents)
    if boundary:
        intents = intents.filter(issued_at__gte=boundary.moment)
    by_call = intents.filter(_match_unindexed(environment, period, filters)).order_by().values("tool_call_id")
    counts_by_call = by_call.annotate(
        intents=Count("pk"),
        asking_for_confirmation=Count("pk", filter=~NEEDS_NO_CONFIRMATION),
        asking_for_step_up=Count("pk", filter=Q(requires_step_up=True)),
    )
    sums = counts_by_call.aggregate(
        calls=Count("*"),
        all=Sum("intents"),
        retried_calls=Count("tool_call_id", filter=Q(intents__gt=1)),
        confirmation=Sum("asking_for_confirmation"),
        confirmation_calls=Count("tool_call_id", filter=Q(asking_for_confirmation__gt=0)),
        step_up=Sum("asking_for_step_up"),
        step_up_calls=Count("tool_call_id", filter=Q(asking_for_step_up__gt=0)),
    )
    return CallCounts(
        calls=sums["calls"],
        intents=sums["all"] or 0,
        retried_calls=sums["retried_calls"],
        confirmation=sums["confirmation"] or 0,
        confirmation_calls=sums["confirmation_calls"],
        step_up=sums["step_up"] or 0,
        step_up_calls=sums["step_up_calls"],
        since=boundary.moment if boundary else None,
    )


def read_page(
    environment: Environment, period: Period, filters: CallFilters, position: ListPosition[int] | None, limit: int
) -> CallPage:
    """Return at most `limit` matching intents after a position; None begins with the newest intent."""
    intents = _select_indexed(environment, period, filters)
    if position:
        is_later_row = Q(issued_at=position.moment, pk__gte=position.row_id)
        intents = intents.filter(issued_at__lte=position.moment).exclude(is_later_row)
    boundary = _find_boundary(intents) if filters.searches else None
    if boundary:
        intents = intents.filter(issued_at__gte=boundary.moment)
    rows = list(intents.filter(_match_unindexed(environment, period, filters))[: limit + 1])
    if len(rows) > limit:
        last = rows[limit - 1]
        return CallPage(rows[:limit], ListPosition(last.issued_at, last.pk))
    if boundary:
        # Rows of the same second were searched, too: go on with the second before.
        return CallPage(rows, ListPosition(boundary.moment, 0), boundary.moment)
    return CallPage(rows, None)


def _select_indexed(environment: Environment, period: Period, filters: CallFilters) -> QuerySet[MintedIntent]:
    """Return the intents of a period, the newest first, narrowed by the filters that have an index."""
    intents = MintedIntent.objects.filter(
        environment=environment, issued_at__gte=period.start, issued_at__lt=period.end
    )
    if filters.user:
        intents = intents.filter(sub=filters.user)
    elif filters.step_up == ASKED:
        intents = intents.filter(requires_step_up=True)
    return intents.order_by("-issued_at", "-pk")


def _find_boundary(intents: QuerySet[MintedIntent]) -> ListPosition[int] | None:
    """Return the last intent that is counted or searched; None if all are."""
    rows = list(intents.values_list("issued_at", "pk")[MAX_SCANNED - 1 : MAX_SCANNED + 1])
    return ListPosition(*rows[0]) if len(rows) > 1 else None


def _match_unindexed(environment: Environment, period: Period, filters: CallFilters) -> Q:
    """Return the condition of the filters without an index."""
    condition = Q()
    if filters.method:
        condition &= Q(operation__startswith=f"{filters.method} ")
    if filters.path:
        condition &= match_signed_operation(filters.path)
    if filters.confirmation:
        condition &= ~NEEDS_NO_CONFIRMATION if filters.confirmation == ASKED else NEEDS_NO_CONFIRMATION
    if filters.step_up:
        condition &= Q(requires_step_up=filters.step_up == ASKED)
    if filters.intents == SEVERAL:
        condition &= Q(_has_other_intent(environment, period))
    if filters.intents == REJECTED:
        condition &= Q(_has_rejection(environment, period))
    return condition


def _has_other_intent(environment: Environment, period: Period) -> Exists:
    """Return the condition that the call of an intent has another intent in the period; an index serves this."""
    intents = MintedIntent.objects.filter(
        environment=environment, issued_at__gte=period.start, issued_at__lt=period.end,
        tool_call_id=OuterRef("tool_call_id"),
    )  # fmt: skip
    return Exists(intents.exclude(pk=OuterRef("pk")))


def _has_rejection(environment: Environment, period: Period) -> Exists:
    """Return the condition that the call of an intent was rejected in the period; an index serves this."""
    rejections = Rejection.objects.filter(
        environment=environment, occurred_at__gte=period.start, occurred_at__lt=period.end,
        tool_call_id=OuterRef("tool_call_id"),
    )  # fmt: skip
    return Exists(rejections)
