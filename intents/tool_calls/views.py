"""The page of tool calls: what the hub permitted, and what each call asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.http import HttpRequest

from intents.gate.needs_confirmation import needs_confirmation
from intents.models import MintedIntent
from intents.rejections.intents_of_rejections import count_rejections_by_intent
from intents.tool_calls import queries
from intents.tool_calls.filters import CHOICES, INTENTS_CHOICES, CallFilters, parse_call_filters
from wire.batches import split_into_batches
from wire.list_position import parse_position, parse_row_number
from wire.table_exports import Table
from wire.time.period import Period
from workspaces.access import has_role
from workspaces.models import Environment, Membership
from workspaces.pages.page import Page

ROWS_PER_PAGE = 20
BATCH = 1_000  # rows of the download whose rejections are read together
CALL_COLUMNS = (
    *("issuedAt", "expiresAt", "toolCallId", "operation", "sub", "asksForConfirmation", "requiresStepUp"),
    *("confirmationId", "rejectedAs"),
)
FIRST_INTENT = """{"environment": "%s", "sub": "user_17", "operation": "GET /orders/8412", "args": {}}"""


def show_tool_calls(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the intents that the hub minted in the period. Before the first intent, show how to mint it."""
    filters = parse_call_filters(request.GET)

    def build_context() -> Mapping[str, Any]:
        if not queries.has_intents(environment):
            return {"first_intent": FIRST_INTENT % environment.name}
        may_open_keys = has_role(request.user, environment.workspace, Membership.ADMIN)
        calls = _build_list(environment, period, filters, request.GET.get("cursor", ""))
        return {"first_intent": "", "may_open_keys": may_open_keys, **calls}

    tables = [Table("toolCalls", CALL_COLUMNS, lambda: _list_call_rows(environment, period, filters))]
    takes = {
        "confirmation": CHOICES.__contains__,
        "stepup": CHOICES.__contains__,
        "intents": INTENTS_CHOICES.__contains__,
    }
    return Page("intents/tool_calls.html", build_context, tables, takes=takes)


def _build_list(environment: Environment, period: Period, filters: CallFilters, cursor: str) -> Mapping[str, Any]:
    position = parse_position(cursor, parse_row_number)
    page = queries.read_page(environment, period, filters, position, ROWS_PER_PAGE)
    rejections = count_rejections_by_intent(environment, page.rows)
    return {
        "filters": filters,
        "max_counted": queries.MAX_SCANNED,
        "counts": queries.count_calls(environment, period, filters),
        "rows": [(intent, needs_confirmation(intent.operation), rejections.get(intent.pk, {})) for intent in page.rows],
        "older_cursor": str(page.older) if page.older else "",
        "searched_since": page.searched_since,
        "is_first_page": position is None,
    }


def _list_call_rows(environment: Environment, period: Period, filters: CallFilters) -> Iterator[Sequence[Any]]:
    intents = queries.select_intents(environment, period, filters).iterator()
    for batch in split_into_batches(intents, BATCH):
        rejections = count_rejections_by_intent(environment, batch)
        yield from (_list_call_cells(intent, rejections.get(intent.pk, {})) for intent in batch)


def _list_call_cells(intent: MintedIntent, rejections: Mapping[str, int]) -> Sequence[Any]:
    return (
        intent.issued_at,
        intent.expires_at,
        intent.tool_call_id,
        intent.operation,
        intent.sub,
        needs_confirmation(intent.operation),
        intent.requires_step_up,
        str(intent.confirmation_id) if intent.confirmation_id else None,
        rejections,
    )
