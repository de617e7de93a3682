"""The bodies of minting, the gate and hosted verification (contract 3); no fault repeats a value."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from affidavit import InvalidArgs, member_args
from intents.gate.confirmations import DECISIONS
from intents.gate.policy import Call
from intents.models import MAX_SIGNED_OPERATION
from intents.reports.serializers import UuidText
from wire.http.fields import EnvironmentName, ExactText, Flag

SHA256_HEX = re.compile(r"[0-9a-f]{64}")
MAX_PATH = 8192
ARGS_OR_HASH = ErrorDetail(
    "Send exactly one of args and argsHash; a call without arguments has args {}.", "args-or-hash"
)


@extend_schema_field({})
class Args(serializers.Field):
    """Any JSON value, null too; all that is kept of it is its `argsHash`.

    It is hashed from the text of the request, as a verifier will hash it: parsed, different numbers may be one.
    """

    default_error_messages = {
        "not-canonical": "A number in here is beyond what a double carries exactly: send it as a string."
    }

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        return (False, data) if data is None else super().validate_empty_values(data)

    def to_internal_value(self, data: Any) -> str:
        try:
            return member_args(self.context["raw"], self.field_name).hash
        except InvalidArgs:
            self.fail("not-canonical")


class ArgsHash(ExactText):
    """The SHA-256 of the arguments' RFC 8785 form."""

    default_error_messages = {"hash": "Send 64 lower-case hex digits: SHA-256 of the arguments' RFC 8785 form."}

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=None, **options)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not SHA256_HEX.fullmatch(text):
            self.fail("hash")
        return text


@extend_schema_field({"type": "string", "enum": list(DECISIONS)})
class DecisionText(serializers.Field):
    default_error_messages = {"invalid": f"Send one of: {', '.join(DECISIONS)}."}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or data not in DECISIONS:
            self.fail("invalid")
        return data


@extend_schema_field(OpenApiTypes.BYTE)
class Base64Bytes(serializers.Field):
    default_error_messages = {"invalid": "Send the body's bytes in base64 with its padding, without line ends."}

    def to_internal_value(self, data: Any) -> bytes:
        try:
            return base64.b64decode(data.encode("ascii"), validate=True)
        except (AttributeError, ValueError, binascii.Error):
            self.fail("invalid")


class CallForm(serializers.Serializer):
    """Who does what with which arguments; of `args` and `argsHash` exactly one."""

    environment = EnvironmentName()
    sub = ExactText(max_length=255)
    operation = ExactText(max_length=MAX_SIGNED_OPERATION)
    args = Args(required=False, source="args_hash")
    argsHash = ArgsHash(required=False, source="args_hash")

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """The members, and the `call` that they make."""
        faults = {} if not isinstance(data, Mapping) or has_one_of_args(data) else {"args": [ARGS_OR_HASH]}
        try:
            given = super().to_internal_value(data)
        except serializers.ValidationError as error:
            faults = {**error.detail, **faults}
        if faults:
            raise serializers.ValidationError(faults)
        return {**given, "call": Call(given["sub"], given["operation"], given["args_hash"])}


def has_one_of_args(data: Mapping[str, Any]) -> bool:
    return ("args" in data) is not ("argsHash" in data)


class IntentForm(CallForm):
    """The call to mint for. `confirmationId` is needed for anything but GET, HEAD and OPTIONS."""

    toolCallId = ExactText(max_length=255, required=False)
    requiresStepUp = Flag(required=False)
    confirmationId = UuidText(required=False)


class ConfirmationForm(CallForm):
    """The call to be confirmed, and a summary of it for the one who decides."""

    summary = ExactText(max_length=1000)


class DecisionForm(serializers.Serializer):
    decision = DecisionText()


class VerifyForm(serializers.Serializer):
    """What a backend received. `query` is raw, without the question mark."""

    environment = EnvironmentName()
    header = ExactText(max_length=None, required=False, allow_blank=True)
    method = ExactText(max_length=32)
    path = ExactText(max_length=MAX_PATH)
    query = ExactText(max_length=None, required=False, allow_blank=True)
    contentType = ExactText(max_length=255, required=False, allow_blank=True)
    bodyBase64 = Base64Bytes(required=False)
    stepUp = Flag(required=False)
