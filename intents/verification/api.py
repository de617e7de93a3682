"""POST /api/intents/verify: hosted verification (contract 3)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.response import Response

from affidavit import IntentRejected
from intents.gate import answers
from intents.gate.serializers import VerifyForm
from intents.verification.received_request import Presented
from intents.verification.verify import verify
from wire.http.machine_view import MachineView
from wire.http.problems import Problem, build_document
from workspaces.models import Environment


@extend_schema_view(post=extend_schema(request=VerifyForm, responses={200: answers.Verified, 403: answers.Rejected}))
class Verifications(MachineView):
    """Have an intent verified against the request that carried it; its nonce is used up, the result tallied."""

    scope = "report"
    form = VerifyForm

    def answer(
        self, environment: Environment, data: Mapping[str, Any], raw: bytes, *, now: datetime, **path: str
    ) -> Response:
        try:
            intent = verify(environment, presented(data), now=now)
        except IntentRejected as rejection:
            return self.rejected(rejection)
        return Response({"intent": intent.payload})

    def rejected(self, rejection: IntentRejected) -> Response:
        """An answer, not an exception: the tally must outlive the transaction of an Idempotency-Key."""
        problem = Problem("intent-rejected", rejection.detail, extra={"reason": rejection.reason})
        document = build_document(problem)
        return Response(document, status=403, content_type="application/problem+json")


def presented(data: Mapping[str, Any]) -> Presented:
    return Presented(
        header=data.get("header", ""),
        method=data["method"],
        path=data["path"],
        query=data.get("query", ""),
        body=data.get("bodyBase64", b""),
        content_type=data.get("contentType", ""),
        step_up=data.get("stepUp", False),
    )
