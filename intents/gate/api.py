"""POST /api/intents, /api/confirmations and a confirmation's decision (contract §3)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response

from intents.gate.confirmations import decide_confirmation, request_confirmation
from intents.gate.mint import mint_for_call
from intents.gate.queries import find_environment_name
from intents.gate.serializers import (
    ConfirmationForm,
    ConfirmationReceipt,
    DecisionForm,
    DecisionReceipt,
    IntentForm,
    IntentReceipt,
)
from wire.http.fields import UUID_FORM
from wire.http.machine_view import CallExample, MachineView
from wire.time.timestamps import unix_seconds
from workspaces.authentication import key_of_request
from workspaces.models import Environment, Workspace

CONFIRMATION_ID = "0190a5f0-6c1d-4c2b-9a3e-5f7d1c2b3a4e"
READ_CALL = {
    "environment": "production",
    "sub": "user_1",
    "operation": "GET /orders/42",
    "args": {},
    "toolCallId": "call_1",
}
PAYLOAD = {
    "v": 2,
    "tenantId": "ws_lumen",
    "aud": "https://api.example.com",
    "sub": "user_1",
    "operation": "GET /orders/42",
    "argsHash": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
    "toolCallId": "call_1",
    "nonce": "8hT2kq5nYw0RZ3bXc1dE7g",
    "issuedAt": 1790000000,
    "expiresAt": 1790000300,
}


@extend_schema_view(post=extend_schema(request=IntentForm, responses={201: IntentReceipt}))
class Intents(MachineView):
    """Mint a signed intent for one tool call. Anything but a read needs a confirmed confirmation."""

    scope = "platform"
    form = IntentForm
    own_codes = ("confirmation-required",)
    has_secret_answer = True
    examples = {"POST": CallExample("Mint an intent", {"header": "eyJwYXlsb2FkIjoi…", "payload": PAYLOAD}, READ_CALL)}

    def answer(
        self, environment: Environment, data: Mapping[str, Any], raw: bytes, *, now: datetime, **path: str
    ) -> Response:
        intent = mint_for_call(
            environment,
            data["call"],
            tool_call_id=data.get("toolCallId", ""),
            requires_step_up=data.get("requiresStepUp"),
            confirmation_id=data.get("confirmationId"),
            now=now,
        )
        return Response({"header": intent.header, "payload": intent.payload}, status=201)

    def limit_answer_lifetime(self, response: Response) -> datetime:
        """Return when the intent expires: a stored answer contains its header, so the answer expires with it."""
        return datetime.fromtimestamp(response.data["payload"]["expiresAt"], UTC)


@extend_schema_view(post=extend_schema(request=ConfirmationForm, responses={201: ConfirmationReceipt}))
class Confirmations(MachineView):
    """Request the confirmation of a call that is not a read. The confirmation can be decided for 15 minutes."""

    scope = "platform"
    form = ConfirmationForm
    examples = {
        "POST": CallExample(
            "Request a confirmation",
            {"confirmationId": CONFIRMATION_ID, "state": "pending", "expiresAt": 1790000900},
            {
                "environment": "production",
                "sub": "user_1",
                "operation": "POST /orders",
                "args": {"sku": "book-1"},
                "summary": "Order book-1 for 12.90 EUR",
            },
        )
    }
    links = {
        "decide": {
            "operationId": "confirmations_decision_create",
            "parameters": {"confirmation_id": "$response.body#/confirmationId"},
        }
    }

    def answer(
        self, environment: Environment, data: Mapping[str, Any], raw: bytes, *, now: datetime, **path: str
    ) -> Response:
        confirmation = request_confirmation(environment, data["call"], data["summary"], now=now)
        receipt = {
            "confirmationId": str(confirmation.pk),
            "state": confirmation.state,
            "expiresAt": unix_seconds(confirmation.expires_at),
        }
        return Response(receipt, status=201)


@extend_schema_view(post=extend_schema(request=DecisionForm, responses={200: DecisionReceipt}))
class Decisions(MachineView):
    """Confirm or decline a pending confirmation. A confirmed one can be used once, within 15 minutes.

    Deciding needs a scope of its own, so that a key that requests and mints cannot also decide.
    """

    scope = "confirm"
    form = DecisionForm
    examples = {
        "POST": CallExample(
            "Decide a confirmation",
            {"confirmationId": CONFIRMATION_ID, "state": "confirmed"},
            {"decision": "confirm"},
        )
    }
    own_codes = ("not-pending", "not-found", "unknown-environment")

    def find_environment(self, request: Request, data: Mapping[str, Any]) -> Workspace:
        """Return the workspace of the key, since a confirmation's address names no environment.

        Raises UnknownEnvironment or ScopeMissing if the key may not use the environment of the confirmation.
        """
        key = key_of_request(request)
        name = find_environment_name(key.workspace_id, require_uuid(self.kwargs["confirmation_id"]))
        if name is not None:
            key.require_environment(name)
        return key.workspace

    def answer(
        self, environment: Workspace, data: Mapping[str, Any], raw: bytes, *, now: datetime, **path: str
    ) -> Response:
        actor = f"key {key_of_request(self.request).prefix}…"
        confirmation_id = require_uuid(path["confirmation_id"])
        confirmation = decide_confirmation(environment, confirmation_id, data["decision"], actor=actor, now=now)
        return Response({"confirmationId": str(confirmation.pk), "state": confirmation.state})


def require_uuid(text: str) -> UUID:
    """Return a UUID of an address. Raises Http404 unless it is written in five groups of hex digits.

    Python takes other spellings too, of any length.
    """
    if not UUID_FORM.fullmatch(text):
        raise Http404
    return UUID(text)
