"""POST /api/intents/verify: hosted verification (contract §3)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.response import Response

from affidavit import REASONS, IntentRejected
from intents.verification.received_request import ReceivedRequest
from intents.verification.serializers import VerifiedIntent, VerifyForm
from intents.verification.verify import verify_request
from wire.http.machine_view import CallExample, MachineView
from wire.http.problems import Problem, build_document
from workspaces.authentication import key_of_request
from workspaces.models import Environment


@extend_schema_view(post=extend_schema(request=VerifyForm, responses={200: VerifiedIntent}))
class Verifications(MachineView):
    """Have an intent verified against the request that carried it; its nonce is used up, the result tallied."""

    scope = "report"
    form = VerifyForm
    examples = {
        "POST": CallExample(
            "Verify an intent",
            {"intent": {"v": 2, "sub": "user_1", "operation": "GET /orders/42", "toolCallId": "call_1"}},
            {"environment": "production", "header": "eyJwYXlsb2FkIjoi…", "method": "GET", "path": "/orders/42"},
        )
    }
    own_codes = ("intent-rejected",)
    has_secret_answer = True
    expires_at: datetime | None = None

    def answer(
        self, environment: Environment, data: Mapping[str, Any], raw: bytes, *, now: datetime, **path: str
    ) -> Response:
        try:
            intent = verify_request(environment, build_request(data), now=now, api_key=key_of_request(self.request))
        except IntentRejected as rejection:
            return answer_rejection(rejection)
        self.expires_at = datetime.fromtimestamp(intent.expires_at, UTC)
        return Response({"intent": intent.payload})

    def limit_answer_lifetime(self, response: Response) -> datetime | None:
        """Return when the verified intent expires; None for a rejected one.

        A stored answer that lived longer would still call the intent valid.
        """
        return self.expires_at


def answer_rejection(rejection: IntentRejected) -> Response:
    """Return the problem as an answer: raising it in an Idempotency-Key's transaction would roll back the tally.

    Its detail says what was wrong and what usually helps, as that of a protected app does.
    """
    detail = f"{rejection.detail} {REASONS[rejection.reason].usual_fix}"
    problem = Problem("intent-rejected", detail, extra={"reason": rejection.reason})
    return Response(build_document(problem), status=403, content_type="application/problem+json")


def build_request(data: Mapping[str, Any]) -> ReceivedRequest:
    """Build the received request from a checked body."""
    return ReceivedRequest(
        header=data.get("header", ""),
        method=data["method"],
        path=data["path"],
        query=data.get("query", ""),
        body=data.get("bodyBase64", b""),
        content_type=data.get("contentType", ""),
        content_encoding=data.get("contentEncoding", ""),
        step_up=data.get("stepUp", False),
    )
