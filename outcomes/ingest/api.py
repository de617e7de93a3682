"""The machine API of outcomes: parse a batch, store it, answer (contract §2)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.response import Response

from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from outcomes.ingest.serializers import ConversationBatch, ConversationReceipt, OutcomeBatch, OutcomeReceipt
from wire.http.machine_view import CallExample, MachineView
from wire.metrics.definitions import UNKNOWN, count_after_commit
from workspaces.models import Environment

OUTCOMES_NEW = OpenApiParameter(
    "X-Outcomes-New", int, OpenApiParameter.HEADER, response=[200], description="How many outcomes were new."
)


@extend_schema_view(
    post=extend_schema(request=OutcomeBatch, responses={200: OutcomeReceipt}, parameters=[OUTCOMES_NEW])
)
class ConversationOutcomes(MachineView):
    """Report outcomes of conversations, at most 500 at once, as they happen."""

    scope = "report"
    form = OutcomeBatch
    items = "outcomes"
    examples = {
        "POST": CallExample(
            "Report outcomes",
            {"recorded": 1, "unknownConversations": []},
            {"environment": "production", "outcomes": [{"conversationId": "conv_1", "outcomeKey": "purchase"}]},
        )
    }

    def answer(
        self, environment: Environment, data: Mapping[str, Any], raw: bytes, *, now: datetime, **path: str
    ) -> Response:
        reports = [Report(item["conversationId"], item["outcomeKey"]) for item in data["outcomes"]]
        receipt = record_outcomes(environment, reports, reported_by=self.request.auth.pk, now=now)
        count_after_commit(UNKNOWN, len(reports) - receipt.recorded)
        return Response(receipt.as_json(), headers={"X-Outcomes-New": str(receipt.new)})


@extend_schema_view(post=extend_schema(request=ConversationBatch, responses={200: ConversationReceipt}))
class Conversations(MachineView):
    """Register conversations, at most 500 at once. Outcomes that were reported before are joined to them."""

    scope = "platform"
    form = ConversationBatch
    items = "conversations"
    examples = {
        "POST": CallExample(
            "Register conversations",
            {"registered": 1, "alreadyKnown": 0, "healedOutcomes": 0},
            {"environment": "production", "conversations": [{"conversationId": "conv_1"}]},
        )
    }

    def answer(
        self, environment: Environment, data: Mapping[str, Any], raw: bytes, *, now: datetime, **path: str
    ) -> Response:
        arrivals = [Arrival(item["conversationId"], item.get("startedAt")) for item in data["conversations"]]
        return Response(register_conversations(environment, arrivals, now=now).as_json())
