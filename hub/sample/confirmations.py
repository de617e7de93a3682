"""The confirmation gate of the sample's history, answered from memory and stored day by day.

The gate's own functions take a dozen statements for one confirmation, and the history has thousands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import affidavit
from examples.bookshop.calls import Answer
from hub.sample.reporters import Clock, now_of
from intents.gate.args_hashes import hash_args_hash
from intents.gate.confirmations import DECISIONS, LIFETIME, list_audit_facts
from intents.gate.mint import build_intent_row
from intents.gate.needs_confirmation import needs_confirmation
from intents.models import Confirmation, MintedIntent
from workspaces.models import AuditEntry, Environment

FINAL_STATES = (Confirmation.USED, Confirmation.DECLINED, Confirmation.EXPIRED)


class SampleGate:
    """The confirmation gate of the sample.

    decided_by: who decides every confirmation.
    """

    def __init__(self, clock: Clock, signing_secret: str, *, decided_by: str) -> None:
        self._clock = clock
        self._secret = signing_secret
        self._decided_by = decided_by
        self._confirmations: dict[str, Confirmation] = {}
        self._intents: list[MintedIntent] = []
        self._decisions: list[AuditEntry] = []

    def ask(self, environment: Environment, body: Mapping[str, Any]) -> Answer:
        now = now_of(self._clock)
        confirmation = Confirmation(
            id=uuid4(), environment=environment, sub=body["sub"], operation=body["operation"],
            args_hash=hash_args_hash(environment.workspace_id, affidavit.args_hash(body["args"])),
            summary=body["summary"],
            created_at=now, expires_at=now + LIFETIME,
        )  # fmt: skip
        self._confirmations[str(confirmation.id)] = confirmation
        return Answer(201, {"confirmationId": str(confirmation.id)})

    def decide(self, confirmation_id: str, decision: str) -> Answer:
        now = now_of(self._clock)
        confirmation = self._confirmations[confirmation_id]
        confirmation.state = DECISIONS[decision]
        confirmation.decided_at, confirmation.expires_at = now, now + LIFETIME
        confirmation.decided_by = self._decided_by
        entry = AuditEntry(
            workspace_id=confirmation.environment.workspace_id, at=now, actor=self._decided_by,
            action=f"confirmation {confirmation.state}", facts=list_audit_facts(confirmation),
        )  # fmt: skip
        self._decisions.append(entry)
        return Answer(200, None)

    def mint(self, environment: Environment, body: Mapping[str, Any]) -> Answer:
        confirmation = self._confirmations.get(body.get("confirmationId", ""))
        if needs_confirmation(body["operation"]):
            if confirmation is None or confirmation.state not in (Confirmation.CONFIRMED, Confirmation.USED):
                return Answer(409, None)
            confirmation.state, confirmation.tool_call_id = Confirmation.USED, body["toolCallId"]
            confirmation.used_at = confirmation.used_at or now_of(self._clock)
        intent = affidavit.mint_intent(
            self._secret, tenant_id=environment.workspace_id, sub=body["sub"], aud=environment.audience,
            operation=body["operation"], args=body["args"], tool_call_id=body.get("toolCallId"),
            requires_step_up=body.get("requiresStepUp"), now=self._clock(),
        )  # fmt: skip
        self._intents.append(build_intent_row(environment, intent.payload, confirmation))
        return Answer(201, {"header": intent.header})

    def store(self) -> None:
        """Store confirmations, decisions and minted intents; confirmations without a final state stay in memory too."""
        Confirmation.objects.bulk_create(
            self._confirmations.values(), update_conflicts=True, unique_fields=["environment", "id"],
            update_fields=["state", "expires_at", "decided_at", "decided_by", "used_at", "tool_call_id"],
        )  # fmt: skip
        MintedIntent.objects.bulk_create(self._intents)
        AuditEntry.objects.bulk_create(self._decisions)
        self._intents.clear()
        self._decisions.clear()
        now = now_of(self._clock)
        self._confirmations = {
            confirmation_id: confirmation
            for confirmation_id, confirmation in self._confirmations.items()
            if confirmation.state_at(now) not in FINAL_STATES
        }
