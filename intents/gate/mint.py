"""Mint a signed intent for one tool call; what is not a read only past the confirmation gate (contract 3)."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid4

from django.db import transaction

import affidavit
from intents.gate.confirmations import use
from intents.gate.policy import Call, needs_confirmation
from intents.gate.signing_secrets import newest_secret
from intents.models import Confirmation, MintedIntent
from wire.errors import Fault, InvalidBody
from workspaces.models import Environment

LIFETIME = 300  # seconds


@transaction.atomic
def mint(
    environment: Environment,
    call: Call,
    *,
    tool_call_id: str = "",
    requires_step_up: bool | None = None,
    confirmation_id: UUID | None = None,
    now: datetime,
) -> affidavit.MintedIntent:
    """Header and payload; the hub keeps neither the header nor the arguments. A toolCallId is made if none is given.

    Raises ConfirmationRequired, and InvalidBody where the header would be too long.
    """
    environment.hold()
    tool_call_id = tool_call_id or str(uuid4())
    confirmation = None
    if needs_confirmation(call.operation):
        confirmation = use(environment, confirmation_id, call, tool_call_id, now=now)
    minted = signed(environment, call, tool_call_id, requires_step_up, now)
    keep(environment, minted, confirmation)
    return minted


def signed(
    environment: Environment, call: Call, tool_call_id: str, requires_step_up: bool | None, now: datetime
) -> affidavit.MintedIntent:
    secret = newest_secret(environment.workspace)
    try:
        return affidavit.mint_intent(
            secret,
            tenant_id=environment.workspace_id,
            sub=call.sub,
            aud=environment.audience,
            operation=call.operation,
            args_hash=call.args_hash,
            lifetime=LIFETIME,
            tool_call_id=tool_call_id,
            requires_step_up=requires_step_up,
            now=now.timestamp(),
        )
    except ValueError:  # all else that mint_intent refuses, the form has refused before
        detail = "Shorten operation, sub or toolCallId: the header would be over 8 KiB."
        raise InvalidBody(Fault("/operation", "too-long", detail)) from None


def keep(environment: Environment, minted: affidavit.MintedIntent, confirmation: Confirmation | None) -> None:
    said = minted.payload
    MintedIntent.objects.create(
        environment=environment,
        tool_call_id=said["toolCallId"],
        sub=said["sub"],
        operation=said["operation"],
        args_hash=said["argsHash"],
        requires_step_up=said.get("requiresStepUp", False),
        confirmation=confirmation,
        issued_at=datetime.fromtimestamp(said["issuedAt"], UTC),
        expires_at=datetime.fromtimestamp(said["expiresAt"], UTC),
    )
