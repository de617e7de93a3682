"""The bodies of verification reports (contract §3); error messages never repeat a value."""

from __future__ import annotations

import re
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from affidavit import REASONS, whole_number
from intents.models import MAX_OPERATION
from intents.reports.verification import ACCEPTED
from wire.http.bounded_lists import MAX_ITEMS, BatchItem
from wire.http.fields import Count, EnvironmentName, ExactText, Form, Moment, UuidText

SECRET_PREFIX = re.compile(r"gas_[0-9A-Za-z_-]{4}")
MAX_ITEM_COUNT = 10**9  # so that no number of reports overflows a tally


@extend_schema_field({"type": "string", "enum": [ACCEPTED, *REASONS]})
class Result(serializers.Field[Any, Any, Any, Any]):
    """`accepted`, or a reason of the closed set of rejections."""

    default_error_messages = {"unknown-result": f"Send one of: {', '.join((ACCEPTED, *REASONS))}."}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or (data != ACCEPTED and data not in REASONS):
            self.fail("unknown-result")
        return data


@extend_schema_field({"type": "integer", "enum": [1, 2]})
class PayloadVersion(serializers.Field[Any, Any, Any, Any]):
    """The version of an intent's payload."""

    default_error_messages = {"invalid": "Send 1 or 2 as a number, or leave it out if it is not known."}

    def to_internal_value(self, data: Any) -> int:
        version = whole_number(data)
        if version not in (1, 2):
            self.fail("invalid")
        return version


@extend_schema_field({"type": "string", "pattern": "^gas_[0-9A-Za-z_-]{4}$"})
class SecretPrefix(serializers.Field[Any, Any, Any, Any]):
    """The first 8 characters of the signing secret that verified. A longer text is refused and never repeated."""

    default_error_messages = {"invalid": "Send only the first 8 characters of the secret: gas_ and four more."}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or not SECRET_PREFIX.fullmatch(data):
            self.fail("invalid")
        return data


class VerificationItem(BatchItem):
    """One verification, or `count` identical ones."""

    result = Result(help_text="accepted, or the reason of the rejection.")
    version = PayloadVersion(required=False, help_text="The version of the intent's payload, if it is known.")
    operation = ExactText(
        max_length=MAX_OPERATION,
        required=False,
        help_text="The method and the template of the call: GET /orders/{orderId}.",
    )
    toolCallId = ExactText(max_length=255, required=False, help_text="The tool call of the intent, if it is known.")
    count = Count(
        max_value=MAX_ITEM_COUNT,
        required=False,
        help_text="How many equal verifications this item stands for. Default: 1.",
    )
    occurredAt = Moment(required=False, help_text="When the verification happened, in Unix seconds. Default: now.")
    secret = SecretPrefix(required=False, help_text="The first 8 characters of the signing secret that verified.")


class VerificationReportForm(Form):
    """A report; the same `reportId` with the same body changes nothing."""

    environment = EnvironmentName()
    reportId = UuidText(help_text="Chosen by the reporter: the same report sent again changes nothing.")
    verifications = VerificationItem(many=True, help_text=f"At most {MAX_ITEMS}.")


class ReportReceipt(serializers.Serializer[Any]):
    recorded = serializers.IntegerField(help_text="The sum of the counts.")
