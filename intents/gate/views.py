"""The page of the confirmation gate: what waits, and what became of the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from intents.gate.confirmations import DECISIONS, decide
from intents.models import Confirmation
from intents.rejections import queries
from wire.errors import DomainError, InvalidRequest
from wire.period import Period
from wire.tables import Table
from workspaces.access import require_member_environment
from workspaces.models import Environment
from workspaces.page import Page, redirect_to_page

A_PAGE = 25
WAITING_SHOWN = 50
COLUMNS = (
    *("confirmationId", "state", "sub", "operation", "argsHash", "summary", "createdAt", "expiresAt"),
    *("decidedAt", "decidedBy", "usedAt", "toolCallId"),
)
FIRST_QUESTION = """{"environment": "%s", "sub": "user_17", "operation": "POST /refunds",
    "args": {"orderId": 8412, "amount": 1250}, "summary": "Refund 12.50 for order 8412"}"""


def confirmations(request: HttpRequest, environment: Environment, period: Period) -> Page:
    now = timezone.now()
    tables = [
        Table("waiting", COLUMNS, lambda: rows(queries.waiting(environment, now=now), now)),
        Table("confirmations", COLUMNS, lambda: rows(queries.confirmations(environment, period), now)),
    ]
    return Page("intents/confirmations.html", lambda: context(request, environment, period, now), tables)


def context(request: HttpRequest, environment: Environment, period: Period, now: datetime) -> Mapping[str, Any]:
    if not queries.has_confirmations(environment):
        return {"first_question": FIRST_QUESTION % environment.name}
    asked = Paginator(queries.confirmations(environment, period), A_PAGE).get_page(request.GET.get("page"))
    waiting = queries.waiting(environment, now=now)
    return {
        "waiting": waiting[:WAITING_SHOWN],
        "waiting_in_all": waiting.count(),
        "asked": asked,
        "states": [(each, each.state_at(now)) for each in asked],
        "too_late": request.GET.get("too-late", ""),
    }


def rows(found: Any, now: datetime) -> Iterator[Sequence[Any]]:
    return (row(each, now) for each in found.iterator())


def row(each: Confirmation, now: datetime) -> Sequence[Any]:
    """What has not happened is null."""
    asked = (str(each.pk), each.state_at(now), each.sub, each.operation, each.args_hash, each.summary)
    decided = (each.decided_at, each.decided_by or None, each.used_at, each.tool_call_id or None)
    return (*asked, each.created_at, each.expires_at, *decided)


@require_POST
@login_required
def decision(request: HttpRequest, slug: str, environment: str, confirmation_id: UUID) -> HttpResponseRedirect:
    """Confirm or decline by hand, then back to the page; if somebody was faster, the page says so."""
    found = require_member_environment(request, slug, environment)
    wanted = request.POST.get("decision", "")
    if wanted not in DECISIONS:
        raise InvalidRequest("Choose to confirm or to decline.")
    too_late = None
    try:
        decide(found.workspace, confirmation_id, wanted, actor=request.user.get_username(), now=timezone.now())
    except DomainError as problem:
        if problem.code != "not-pending":
            raise
        too_late = problem.extra["state"]
    return redirect_to_page("confirmations", found, {"too-late": too_late})
