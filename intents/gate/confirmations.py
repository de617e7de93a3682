"""The confirmation gate: pending -> confirmed | declined | expired; confirmed -> used | expired (contract §3).

A decision on the page takes effect after UNDO_TIME, so that a wrong click can be undone. A decision by API takes effect
at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q

from intents.gate.args_hashes import encrypt_args_hash, hash_args_hash, is_args_hash
from intents.gate.needs_confirmation import Call
from intents.models import Confirmation
from wire.errors import DomainError, NotFound
from workspaces.audit.record import record_audit
from workspaces.models import Environment, Workspace

LIFETIME = timedelta(minutes=15)
UNDO_TIME = timedelta(seconds=10)
REDELIVERED_WITHIN = timedelta(hours=24)
DECISIONS = {"confirm": Confirmation.CONFIRMED, "decline": Confirmation.DECLINED}
RULE = "Only GET, HEAD and OPTIONS are minted without a confirmation."
UNKNOWN = "This workspace has no such confirmation; check the id."
NEXT_STEP = "Ask with POST /api/confirmations and send its confirmationId once it is confirmed."


class ConfirmationRequired(DomainError):
    """This call needs a confirmed confirmation of its own."""

    code = "confirmation-required"

    def __init__(self, cause: str) -> None:
        super().__init__(f"{cause} {NEXT_STEP}")


class NotPending(DomainError):
    """The confirmation was decided, has expired, or has no decision to undo: `state` says which."""

    code = "not-pending"

    def __init__(self, state: str) -> None:
        detail = (
            f"This confirmation is {state} and can no longer be decided; request a new one if the call is still wanted."
        )
        super().__init__(detail, extra={"state": state})
        self.state = state


@transaction.atomic
def request_confirmation(environment: Environment, call: Call, summary: str, *, now: datetime) -> Confirmation:
    """Create a pending confirmation.

    summary: what the call does, in words for the person who decides.
    """
    environment.hold()
    return Confirmation.objects.create(
        environment=environment,
        sub=call.sub,
        operation=call.operation,
        args_hash=hash_args_hash(environment.workspace_id, call.args_hash),
        encrypted_args_hash=encrypt_args_hash(call.args_hash),
        summary=summary,
        created_at=now,
        expires_at=now + LIFETIME,
    )


@transaction.atomic
def decide_confirmation(
    workspace: Workspace,
    confirmation_id: UUID,
    decision: str,
    *,
    actor: str,
    now: datetime,
    undo_time: timedelta = timedelta(),
) -> Confirmation:
    """Confirm or decline a pending confirmation.

    decision: one of DECISIONS.
    undo_time: how long the decision can be undone before it takes effect.

    Raises NotFound; NotPending if the confirmation was decided before or has expired.
    """
    _hold_environment(workspace, confirmation_id)
    effective_at = now + undo_time
    # Filter by columns of this table only. A join would become a subquery, and PostgreSQL would not evaluate it again
    # after waiting for another decision.
    pending = Confirmation.objects.filter(pk=confirmation_id, state=Confirmation.PENDING, expires_at__gt=now)
    row_count = pending.update(
        state=DECISIONS[decision],
        decided_at=now,
        decided_by=actor,
        expires_at=effective_at + LIFETIME,
        effective_at=effective_at if undo_time else None,
        **({} if undo_time else {"encrypted_args_hash": None}),
    )
    confirmation = _load_again(confirmation_id)
    if not row_count:
        raise NotPending(confirmation.state_at(max(now, confirmation.effective_at or now)))
    _record_confirmation(workspace, confirmation, f"confirmation {confirmation.state}", actor=actor, now=now)
    return confirmation


@transaction.atomic
def undo_decision(workspace: Workspace, confirmation_id: UUID, *, actor: str, now: datetime) -> Confirmation:
    """Make a confirmation pending again, before its decision takes effect. Raises NotFound and NotPending."""
    _hold_environment(workspace, confirmation_id)
    undone = Confirmation.objects.filter(pk=confirmation_id, state__in=DECISIONS.values(), effective_at__gt=now).update(
        state=Confirmation.PENDING,
        decided_at=None,
        decided_by="",
        expires_at=F("created_at") + LIFETIME,
        effective_at=None,
    )
    confirmation = _load_again(confirmation_id)
    if not undone:
        raise NotPending(confirmation.state_at(now))
    _record_confirmation(workspace, confirmation, "confirmation decision undone", actor=actor, now=now)
    return confirmation


def _hold_environment(workspace: Workspace, confirmation_id: UUID) -> None:
    confirmation = Confirmation.objects.filter(pk=confirmation_id, environment__workspace=workspace).first()
    if confirmation is None:
        raise NotFound(UNKNOWN)
    confirmation.environment.hold()


def _load_again(confirmation_id: UUID) -> Confirmation:
    confirmation = Confirmation.objects.filter(pk=confirmation_id).first()
    if confirmation is None:  # it was deleted in the meantime
        raise NotFound(UNKNOWN)
    return confirmation


def _record_confirmation(
    workspace: Workspace, confirmation: Confirmation, action: str, *, actor: str, now: datetime
) -> None:
    record_audit(workspace.pk, action, list_audit_facts(confirmation), actor=actor, now=now)


def list_audit_facts(confirmation: Confirmation) -> Mapping[str, str]:
    """Return what the audit log says about a confirmation."""
    return {
        "confirmationId": str(confirmation.pk),
        "operation": confirmation.operation,
        "environment": confirmation.environment.name,
    }


@transaction.atomic
def use_confirmation(
    environment: Environment, confirmation_id: UUID | None, call: Call, tool_call_id: str, *, now: datetime
) -> Confirmation:
    """Use up a confirmed confirmation of this call; it still covers the same toolCallId for 24 hours.

    Raises ConfirmationRequired, whose detail says what is missing.
    """
    if confirmation_id is None:
        raise ConfirmationRequired(RULE)
    matching = Confirmation.objects.filter(pk=confirmation_id, environment=environment)
    confirmation = matching.first()
    if confirmation is None:
        raise ConfirmationRequired("No such confirmation is known in this environment.")
    if not _is_for(confirmation, call, environment.workspace_id):
        raise ConfirmationRequired("This confirmation is for another sub, operation or other arguments.")
    effective_confirmations = matching.filter(is_effective(now), state=Confirmation.CONFIRMED, expires_at__gt=now)
    if not effective_confirmations.update(state=Confirmation.USED, used_at=now, tool_call_id=tool_call_id):
        confirmation = matching.first()
        if confirmation is None:
            raise ConfirmationRequired("This confirmation was deleted in the meantime.")
        if not _is_redelivery(confirmation, tool_call_id, now):
            raise ConfirmationRequired(f"This confirmation is {confirmation.state_at(now)}.")
    return confirmation


def is_effective(now: datetime) -> Q:
    """Return the condition that a decision can no longer be undone."""
    return Q(effective_at=None) | Q(effective_at__lte=now)


def _is_for(confirmation: Confirmation, call: Call, workspace_id: str) -> bool:
    if (confirmation.sub, confirmation.operation) != (call.sub, call.operation):
        return False
    return is_args_hash(confirmation.args_hash, workspace_id, call.args_hash)


def _is_redelivery(confirmation: Confirmation, tool_call_id: str, now: datetime) -> bool:
    if confirmation.state != Confirmation.USED or confirmation.used_at is None:
        return False
    return confirmation.tool_call_id == tool_call_id and now < confirmation.used_at + REDELIVERED_WITHIN
