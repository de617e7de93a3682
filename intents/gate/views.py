"""The page of the confirmation gate: pending confirmations, and the states of all others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponseRedirect
from django.utils import timezone

from intents.gate import queries
from intents.gate.args_hashes import show_args_hash
from intents.gate.confirmations import DECISIONS, UNDO_TIME, NotPending, decide_confirmation, undo_decision
from intents.gate.exports import CONFIRMATION_COLUMNS, list_confirmation_rows
from intents.gate.filters import STATES, parse_confirmation_filters
from intents.models import Confirmation
from wire.address_members import parse_uuid
from wire.errors import InvalidRequest
from wire.table_exports import Table
from wire.time.period import Period
from workspaces.access import has_role
from workspaces.models import Environment, Membership
from workspaces.pages.form_answers import member_form, return_to_page
from workspaces.pages.page import Page

UNDO = "undo"
SECOND_STEP: Mapping[str, str | None] = {"decide": None, "as": None}  # what a decision removes from the address
ROWS_PER_PAGE = 10
MAX_ROWS = 50  # open confirmations on the page; the export has all
FIRST_CONFIRMATION = """{"environment": "%s", "sub": "user_17", "operation": "POST /refunds",
    "args": {"orderId": 8412, "amount": 1250}, "summary": "Refund 12.50 for order 8412"}"""


def show_confirmations(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show pending confirmations, and those requested in the period."""
    now = timezone.now()
    filters = parse_confirmation_filters(request.GET)
    open_confirmations = queries.list_open(environment, filters, now=now)
    confirmations = queries.list_confirmations(environment, period, filters, now=now)
    tables = [
        Table("waiting", CONFIRMATION_COLUMNS, lambda: list_confirmation_rows(open_confirmations.iterator(), now)),
        Table("confirmations", CONFIRMATION_COLUMNS, lambda: list_confirmation_rows(confirmations.iterator(), now)),
    ]

    def build_context() -> Mapping[str, Any]:
        confirmation_id = filters.confirmation_id
        common_context = {
            "decided_state": request.GET.get("too-late", ""),
            "first_confirmation": "",
            "confirmation_id": confirmation_id,
            "other_environment": (
                queries.find_readable_environment_name(environment, confirmation_id) if confirmation_id else None
            ),
        }
        if not queries.has_confirmations(environment):
            return {**common_context, "first_confirmation": FIRST_CONFIRMATION % environment.name}
        page = Paginator(confirmations, ROWS_PER_PAGE).get_page(request.GET.get("page"))
        return {
            **common_context,
            "open_confirmations": [
                (confirmation, show_args_hash(confirmation, now)) for confirmation in open_confirmations[:MAX_ROWS]
            ],
            "open_total": open_confirmations.count(),
            "pending_total": open_confirmations.filter(state=Confirmation.PENDING).count(),
            "asked": (request.GET.get("decide", ""), request.GET.get("as", "")),
            "confirmations": page,
            "expired_total": confirmations.filter(queries.match_state(Confirmation.EXPIRED, now)).count(),
            "filters": filters,
            "states": STATES,
            "keys_by_actor": environment.workspace.index_keys_by_actor(),
            "may_open_keys": has_role(request.user, environment.workspace, Membership.ADMIN),
            "may_decide": has_role(request.user, environment.workspace, Membership.EDITOR),
            "rows": [(confirmation, confirmation.state_at(now)) for confirmation in page],
        }

    return Page(
        "intents/confirmations.html", build_context, tables, takes={"state": STATES.__contains__, "id": parse_uuid}
    )


@member_form(Membership.EDITOR)
def decide(request: HttpRequest, environment: Environment, confirmation_id: UUID) -> HttpResponseRedirect:
    """Confirm or decline a confirmation, or undo its decision. The page shown next says if it was too late."""
    decision = request.POST.get("decision", "")
    if decision not in (*DECISIONS, UNDO):
        raise InvalidRequest("Choose to confirm, to decline or to undo.")
    workspace, actor, now = environment.workspace, request.user.get_username(), timezone.now()
    try:
        if decision == UNDO:
            undo_decision(workspace, confirmation_id, actor=actor, now=now)
        else:
            decide_confirmation(workspace, confirmation_id, decision, actor=actor, now=now, undo_time=UNDO_TIME)
    except NotPending as error:
        return return_to_page(request, "confirmations", environment, {**SECOND_STEP, "too-late": error.state})
    row = f"confirmation-{confirmation_id}"
    return return_to_page(request, "confirmations", environment, SECOND_STEP, fragment=row)
