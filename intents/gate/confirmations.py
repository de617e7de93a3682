"""The confirmation gate: ask, decide, use. pending -> confirmed | declined | expired; confirmed -> used | expired."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from intents.gate.policy import Call
from intents.models import Confirmation
from wire.errors import DomainError, NotFound
from workspaces.audit import record_audit
from workspaces.models import Environment, Workspace

LIFETIME = timedelta(minutes=15)
REDELIVERED_WITHIN = timedelta(hours=24)
DECISIONS = {"confirm": Confirmation.CONFIRMED, "decline": Confirmation.DECLINED}
RULE = "Only GET, HEAD and OPTIONS are minted without a confirmation."
HOW = "Ask with POST /api/confirmations and send its confirmationId once it is confirmed."


class ConfirmationRequired(DomainError):
    """This call needs a confirmed confirmation of its own."""

    code = "confirmation-required"

    def __init__(self, cause: str) -> None:
        super().__init__(f"{cause} {HOW}")


class NotPending(DomainError):
    """The confirmation was decided or has expired; `state` says which."""

    code = "not-pending"

    def __init__(self, state: str) -> None:
        detail = f"This confirmation is {state} and can no longer be decided; ask for a new one if it is still wanted."
        super().__init__(detail, extra={"state": state})


@transaction.atomic
def ask(environment: Environment, call: Call, summary: str, *, now: datetime) -> Confirmation:
    """A pending confirmation. summary: what is asked, in words for the one who decides."""
    environment.hold()
    return Confirmation.objects.create(
        environment=environment,
        sub=call.sub,
        operation=call.operation,
        args_hash=call.args_hash,
        summary=summary,
        created_at=now,
        expires_at=now + LIFETIME,
    )


@transaction.atomic
def decide(workspace: Workspace, confirmation_id: UUID, decision: str, *, actor: str, now: datetime) -> Confirmation:
    """decision: one of DECISIONS. Raises NotFound, and NotPending to all but the first who decide."""
    confirmation = Confirmation.objects.filter(pk=confirmation_id, environment__workspace=workspace).first()
    if confirmation is None:
        raise NotFound("This workspace has no such confirmation; check the id.")
    confirmation.environment.hold()
    # On columns of its own only: a join would become a subquery, which PostgreSQL does not look at again
    # after it has waited for another decision.
    waiting = Confirmation.objects.filter(pk=confirmation_id, state=Confirmation.PENDING, expires_at__gt=now)
    decided = waiting.update(state=DECISIONS[decision], decided_at=now, decided_by=actor, expires_at=now + LIFETIME)
    confirmation.refresh_from_db()
    if not decided:
        raise NotPending(confirmation.state_at(now))
    facts = {"confirmationId": str(confirmation.pk), "operation": confirmation.operation}
    record_audit(workspace.pk, f"confirmation {confirmation.state}", facts, actor=actor, now=now)
    return confirmation


@transaction.atomic
def use(
    environment: Environment, confirmation_id: UUID | None, call: Call, tool_call_id: str, *, now: datetime
) -> Confirmation:
    """Use up a confirmed confirmation of this call; for 24 h the same toolCallId may be minted for again.

    Raises ConfirmationRequired, saying what is in the way.
    """
    own = Confirmation.objects.filter(pk=confirmation_id, environment=environment)
    confirmation = own.first()
    if confirmation is None:
        raise ConfirmationRequired("No such confirmation is known in this environment." if confirmation_id else RULE)
    if not confirmation.covers(call):
        raise ConfirmationRequired("This confirmation is for another sub, operation or other arguments.")
    confirmed = own.filter(state=Confirmation.CONFIRMED, expires_at__gt=now)
    if not confirmed.update(state=Confirmation.USED, used_at=now, tool_call_id=tool_call_id):
        confirmation.refresh_from_db()
        if not is_redelivery(confirmation, tool_call_id, now):
            raise ConfirmationRequired(f"This confirmation is {confirmation.state_at(now)}.")
    return confirmation


def is_redelivery(confirmation: Confirmation, tool_call_id: str, now: datetime) -> bool:
    if confirmation.state != Confirmation.USED or confirmation.used_at is None:
        return False
    return confirmation.tool_call_id == tool_call_id and now < confirmation.used_at + REDELIVERED_WITHIN
