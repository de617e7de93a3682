"""The page of one conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from operator import attrgetter
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from outcomes.broken_joins.causes.advice import ADVICE, advise_on_one
from outcomes.broken_joins.exports import BROKEN_JOIN_COLUMNS, write_join_cells
from outcomes.broken_joins.healed_joins import find_longest_healing
from outcomes.conversations.detail import ConversationDetail, find_conversation
from outcomes.conversations.unknown_conversation import explain_unknown_conversation
from outcomes.models import Outcome
from wire.address_members import read_text
from wire.table_exports import Table
from wire.time.period import Period
from wire.time.timestamps import round_to_units
from workspaces.access import has_role
from workspaces.models import Environment, Membership
from workspaces.pages.page import Page

CONVERSATION_EVENT_COLUMNS = ("at", "event", "outcomeKey", "detail", "by", "isBad")
CONVERSATION_OUTCOME_COLUMNS = (
    "outcomeKey", "reports", "firstReportedAt", "lastReportedAt", "lagSeconds", "isBrokenJoin", "healedAt", "movedIn",
)  # fmt: skip
NAMING_COLUMNS = ("environment", *BROKEN_JOIN_COLUMNS)
MAX_OUTCOMES = 100  # on the page; the export has all


def show_conversation(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show all that is stored of the conversation `id`. Raises NotFound if there is nothing."""
    conversation_id = read_text(request.GET, "id")
    detail = find_conversation(environment, conversation_id)
    if detail is None:
        raise explain_unknown_conversation(environment, conversation_id)
    is_admin = has_role(request.user, environment.workspace, Membership.ADMIN)

    def build_context() -> Mapping[str, Any]:
        events = detail.list_events(str)
        return {
            "conversation": detail.conversation,
            "is_known": detail.is_known,
            "outcomes": [(outcome, _measure_lag(detail, outcome)) for outcome in detail.outcomes[:MAX_OUTCOMES]],
            "outcome_count": len(detail.outcomes),
            "events": events[: 2 * MAX_OUTCOMES],
            "event_count": len(events),
            "may_delete": is_admin,
            "may_open_keys": is_admin,
            "may_move": has_role(request.user, environment.workspace, Membership.EDITOR),
            "naming": [
                (source, join, ADVICE[join.diagnosis.kind], detail.api_keys.get(join.reported_by))
                for source, join in detail.naming[:MAX_OUTCOMES]
            ],
            "naming_count": len(detail.naming),
            "diagnosis": detail.diagnosis,
            "advice": ADVICE[detail.diagnosis.kind] if detail.diagnosis else None,
            "to_do": _write_advice(environment, detail),
        }

    tables = [
        Table("events", CONVERSATION_EVENT_COLUMNS, lambda: _event_rows(detail)),
        Table("outcomes", CONVERSATION_OUTCOME_COLUMNS, lambda: _outcome_rows(detail)),
        Table("naming", NAMING_COLUMNS, lambda: _naming_rows(detail)),
    ]
    return Page("outcomes/conversation.html", build_context, tables, has_period=False)


def _write_advice(environment: Environment, detail: ConversationDetail) -> str:
    """Return what to do about an id that is not known; "" for a known id."""
    if detail.diagnosis is None:
        return ""
    first = min((outcome.first_reported_at for outcome in detail.outcomes), default=None)
    return advise_on_one(detail.diagnosis.kind, first, find_longest_healing(environment), now=timezone.now())


def _measure_lag(detail: ConversationDetail, outcome: Outcome) -> timedelta | None:
    """Return the time from the start of the conversation to the outcome; None while the start is not known."""
    started_at = detail.conversation.started_at
    return outcome.first_reported_at - started_at if started_at else None


def _event_rows(detail: ConversationDetail) -> Iterator[Sequence[Any]]:
    return (event.to_row() for event in detail.list_events(attrgetter("name")))


def _outcome_rows(detail: ConversationDetail) -> Iterator[Sequence[Any]]:
    for outcome in detail.outcomes:
        lag = _measure_lag(detail, outcome)
        yield (
            outcome.outcome_key, outcome.reports, outcome.first_reported_at, outcome.last_reported_at,
            None if lag is None else round_to_units(lag), outcome.broken, outcome.healed_at, outcome.moved_in,
        )  # fmt: skip


def _naming_rows(detail: ConversationDetail) -> Iterator[Sequence[Any]]:
    for source, join in detail.naming:
        yield source.name, *write_join_cells(join, detail.api_keys)
