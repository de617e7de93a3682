"""The machines' face of minting, the gate and hosted verification (contract 3)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response

from intents.gate import answers as answers
from intents.gate.confirmations import ask, decide
from intents.gate.mint import LIFETIME, mint
from intents.gate.serializers import ConfirmationForm, DecisionForm, IntentForm
from wire.http.machine_view import MachineView
from wire.timestamps import unix_seconds
from workspaces.models import Environment, Workspace


@extend_schema_view(post=extend_schema(request=IntentForm, responses={201: answers.Minted}))
class Intents(MachineView):
    """Mint a signed intent for one tool call. Anything but a read needs a confirmed confirmation."""

    scope = "platform"
    form = IntentForm
    secret_answer = True

    def answer(
        self, environment: Environment, data: Mapping[str, Any], raw: bytes, *, now: datetime, **path: str
    ) -> Response:
        minted = mint(
            environment,
            data["call"],
            tool_call_id=data.get("toolCallId", ""),
            requires_step_up=data.get("requiresStepUp"),
            confirmation_id=data.get("confirmationId"),
            now=now,
        )
        return Response({"header": minted.header, "payload": minted.payload}, status=201)

    def limit_answer_lifetime(self, now: datetime) -> datetime:
        return now.replace(microsecond=0) + timedelta(seconds=LIFETIME)


@extend_schema_view(post=extend_schema(request=ConfirmationForm, responses={201: answers.Asked}))
class Confirmations(MachineView):
    """Ask for a call that is not a read to be confirmed; it waits 15 minutes."""

    scope = "platform"
    form = ConfirmationForm

    def answer(
        self, environment: Environment, data: Mapping[str, Any], raw: bytes, *, now: datetime, **path: str
    ) -> Response:
        asked = ask(environment, data["call"], data["summary"], now=now)
        told = {"confirmationId": str(asked.pk), "state": asked.state, "expiresAt": unix_seconds(asked.expires_at)}
        return Response(told, status=201)


@extend_schema_view(post=extend_schema(request=DecisionForm, responses={200: answers.Decided}))
class Decisions(MachineView):
    """Confirm or decline what waits. A confirmed one can be used once, within 15 minutes."""

    scope = "platform"
    form = DecisionForm

    def find_environment(self, request: Request, data: Mapping[str, Any]) -> Workspace:
        """A confirmation's id tells its environment; only the workspace has to be the key's."""
        return request.auth.workspace

    def answer(
        self, environment: Workspace, data: Mapping[str, Any], raw: bytes, *, now: datetime, **path: str
    ) -> Response:
        actor = f"key {self.request.auth.prefix}…"
        confirmation_id = uuid_of(path["confirmation_id"])
        decided = decide(environment, confirmation_id, data["decision"], actor=actor, now=now)
        return Response({"confirmationId": str(decided.pk), "state": decided.state})


def uuid_of(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
