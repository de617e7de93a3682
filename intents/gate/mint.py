"""Mint a signed intent for one tool call; anything but a read needs a confirmation (contract §3)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

import affidavit
from intents.gate.args_hashes import hash_args_hash
from intents.gate.confirmations import use_confirmation
from intents.gate.needs_confirmation import Call, needs_confirmation
from intents.models import Confirmation, MintedIntent
from wire.errors import Fault, InvalidBody
from workspaces.models import Environment
from workspaces.secrets.decrypt import load_newest_secret

LIFETIME_SECONDS = 300


@transaction.atomic
def mint_for_call(
    environment: Environment,
    call: Call,
    *,
    tool_call_id: str = "",
    requires_step_up: bool | None = None,
    confirmation_id: UUID | None = None,
    now: datetime,
) -> affidavit.MintedIntent:
    """Return header and payload of a new intent; the hub stores neither the header nor the arguments.

    tool_call_id: the id of the call; if it is empty, a new one is made.

    Raises ConfirmationRequired; InvalidBody if the header would be too long.
    """
    environment.hold()
    tool_call_id = tool_call_id or str(uuid4())
    confirmation = None
    if needs_confirmation(call.operation):
        confirmation = use_confirmation(environment, confirmation_id, call, tool_call_id, now=now)
    intent = _sign_intent(environment, call, tool_call_id, requires_step_up, now)
    build_intent_row(environment, intent.payload, confirmation).save(force_insert=True)
    return intent


def _sign_intent(
    environment: Environment, call: Call, tool_call_id: str, requires_step_up: bool | None, now: datetime
) -> affidavit.MintedIntent:
    secret = load_newest_secret(environment.workspace)
    try:
        return affidavit.mint_intent(
            secret,
            tenant_id=environment.workspace_id,
            sub=call.sub,
            aud=environment.audience,
            operation=call.operation,
            args_hash=call.args_hash,
            lifetime=LIFETIME_SECONDS,
            tool_call_id=tool_call_id,
            requires_step_up=requires_step_up,
            now=now.timestamp(),
        )
    except ValueError:  # the form has refused everything else that mint_intent refuses
        detail = "Shorten operation, sub or toolCallId: the header would be over 8 KiB."
        raise InvalidBody(Fault("/operation", "too-long", detail)) from None


def build_intent_row(
    environment: Environment, payload: Mapping[str, Any], confirmation: Confirmation | None
) -> MintedIntent:
    """Return the unsaved row of an intent."""
    return MintedIntent(
        environment=environment,
        tool_call_id=payload["toolCallId"],
        sub=payload["sub"],
        operation=payload["operation"],
        args_hash=hash_args_hash(environment.workspace_id, payload["argsHash"]),
        requires_step_up=payload.get("requiresStepUp", False),
        confirmation=confirmation,
        issued_at=datetime.fromtimestamp(payload["issuedAt"], UTC),
        expires_at=datetime.fromtimestamp(payload["expiresAt"], UTC),
    )
