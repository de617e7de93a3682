"""The page of one tool call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from intents.gate.exports import CONFIRMATION_COLUMNS, list_confirmation_rows
from intents.models import MintedIntent
from intents.rejections.detail.call_events import CALL_EVENT_COLUMNS, MAX_EVENTS, list_events_of_call
from intents.rejections.exports import REJECTION_COLUMNS, list_rejection_rows
from intents.tool_calls.call_queries import ToolCall, find_tool_call, list_environments_with
from intents.tool_calls.unknown_tool_call import explain_unknown_tool_call
from wire.address_members import read_text
from wire.table_exports import Table
from wire.time.period import Period
from workspaces.access import has_role
from workspaces.models import Environment, Membership
from workspaces.pages.page import Page

INTENT_COLUMNS = ("issuedAt", "expiresAt", "sub", "operation", "requiresStepUp", "confirmationId")


def show_tool_call(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show all that is stored of the tool call `id`. Raises NotFound if there is nothing."""
    tool_call_id = read_text(request.GET, "id")
    call = find_tool_call(environment, tool_call_id)
    if not (tool_call_id and call.exists):
        raise explain_unknown_tool_call(environment, tool_call_id)

    def build_context() -> Mapping[str, Any]:
        now = timezone.now()
        intent_count, rejection_count = call.intents.count(), call.rejections.count()
        return {
            "section_page": "rejections" if rejection_count else "confirmations",
            "tool_call_id": tool_call_id,
            "other_environments": list(list_environments_with(environment, tool_call_id)),
            "keys_by_actor": environment.workspace.index_keys_by_actor(),
            "may_open_keys": has_role(request.user, environment.workspace, Membership.ADMIN),
            "events": list(list_events_of_call(environment, tool_call_id, MAX_EVENTS)),
            "has_intents": intent_count > 0,
            "has_one_intent": intent_count == 1,
            "last_intent": call.intents.last(),
            "asks_for_step_up": call.intents.filter(requires_step_up=True).exists(),
            "rejection_count": rejection_count,
            "rejection": None,  # the timeline links to every rejection
            "first_rejection": call.rejections.first(),
            "is_cut": max(intent_count, rejection_count) > MAX_EVENTS,
            "max_events": MAX_EVENTS,
            "confirmations": [(item, item.state_at(now)) for item in call.list_confirmations(MAX_EVENTS)],
        }

    tables = [
        Table("events", CALL_EVENT_COLUMNS, lambda: _event_rows(environment, tool_call_id)),
        Table("intents", INTENT_COLUMNS, lambda: _intent_rows(call)),
        Table("confirmations", CONFIRMATION_COLUMNS, lambda: _confirmation_rows(call)),
        Table("rejections", REJECTION_COLUMNS, lambda: list_rejection_rows(environment, call.rejections)),
    ]
    return Page("intents/tool_call.html", build_context, tables, has_period=False)


def _event_rows(environment: Environment, tool_call_id: str) -> Iterator[Sequence[Any]]:
    return (event.list_cells() for event in list_events_of_call(environment, tool_call_id))


def _confirmation_rows(call: ToolCall) -> Iterator[Sequence[Any]]:
    return list_confirmation_rows(call.list_confirmations().iterator(), timezone.now())


def _intent_rows(call: ToolCall) -> Iterator[Sequence[Any]]:
    return (_list_intent_cells(intent) for intent in call.intents.iterator())


def _list_intent_cells(intent: MintedIntent) -> Sequence[Any]:
    confirmation_id = str(intent.confirmation_id) if intent.confirmation_id else None
    return (
        intent.issued_at, intent.expires_at, intent.sub, intent.operation, intent.requires_step_up, confirmation_id,
    )  # fmt: skip
