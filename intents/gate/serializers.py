"""The bodies and answers of minting and the gate (contract §3); error messages never repeat a value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from affidavit import InvalidArgs, member_args
from intents.gate.confirmations import DECISIONS
from intents.gate.needs_confirmation import Call
from intents.models import MAX_SIGNED_OPERATION, Confirmation
from wire.http.fields import EnvironmentName, ExactText, Flag, Form, UuidText

SHA256_HEX = re.compile(r"[0-9a-f]{64}")
ARGS_OR_HASH = ErrorDetail(
    "Send exactly one of args and argsHash; a call without arguments has args {}.", "args-or-hash"
)


@extend_schema_field({})
class Args(serializers.Field[Any, Any, Any, Any]):
    """Any JSON value, null too; only its `argsHash` is kept.

    The hash is made from the text of the request, as a verifier makes it, because parsing can turn different numbers
    into the same one.
    """

    default_error_messages = {
        "not-canonical": "A number in here is beyond what a double carries exactly: send it as a string."
    }

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        return (False, data) if data is None else super().validate_empty_values(data)

    def to_internal_value(self, data: Any) -> str:
        try:
            return member_args(self.context["raw"], str(self.field_name), data).hash
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
class DecisionText(serializers.Field[Any, Any, Any, Any]):
    """`confirm` or `decline`."""

    default_error_messages = {"invalid": f"Send one of: {', '.join(DECISIONS)}."}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or data not in DECISIONS:
            self.fail("invalid")
        return data


class CallForm(Form):
    """A call: the user, the operation and the arguments. Exactly one of `args` and `argsHash` is sent."""

    environment = EnvironmentName()
    sub = ExactText(max_length=255, help_text="The user on whose behalf the call is made.")
    operation = ExactText(
        max_length=MAX_SIGNED_OPERATION, help_text="The method and the path of the call: POST /refunds."
    )
    args = Args(
        required=False,
        source="args_hash",
        help_text="The arguments of the call, any JSON value; only their hash is kept.",
    )
    argsHash = ArgsHash(
        required=False, source="args_hash", help_text="In place of args: the SHA-256 of their RFC 8785 form, in hex."
    )

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Return the members, and the `call` that they describe."""
        faults: dict[str, Any] = {}
        if isinstance(data, Mapping) and ("args" in data) is ("argsHash" in data):
            faults = {"args": [ARGS_OR_HASH]}
        try:
            members = super().to_internal_value(data)
        except serializers.ValidationError as error:
            raise serializers.ValidationError({**cast(dict[str, Any], error.detail), **faults}) from None
        if faults:
            raise serializers.ValidationError(faults)
        return {**members, "call": Call(members["sub"], members["operation"], members["args_hash"])}


class IntentForm(CallForm):
    """The call to mint for. `confirmationId` is needed for anything but GET, HEAD and OPTIONS."""

    toolCallId = ExactText(
        max_length=255, required=False, help_text="The id of the tool call; if it is missing, a new one is made."
    )
    requiresStepUp = Flag(required=False, help_text="Whether the backend has to ask for the stronger verification.")
    confirmationId = UuidText(
        required=False, help_text="The confirmed confirmation; required for all but GET, HEAD and OPTIONS."
    )


class ConfirmationForm(CallForm):
    """The call to be confirmed, and a summary of it for the person who decides."""

    summary = ExactText(max_length=1000, help_text="What will be done, in words for the person who decides.")


class DecisionForm(Form):
    """The decision on a confirmation."""

    decision = DecisionText(help_text="What was decided.")


class IntentReceipt(serializers.Serializer[Any]):
    """A minted intent."""

    header = serializers.CharField(help_text="The value of X-Service-Intent; a secret until it expires.")
    payload = serializers.DictField(help_text="What the header says.")


class ConfirmationReceipt(serializers.Serializer[Any]):
    """A confirmation that waits for a decision."""

    confirmationId = serializers.UUIDField()
    state = serializers.ChoiceField([Confirmation.PENDING])
    expiresAt = serializers.IntegerField(help_text="Unix seconds.")


class DecisionReceipt(serializers.Serializer[Any]):
    """A confirmation that was decided."""

    confirmationId = serializers.UUIDField()
    state = serializers.ChoiceField([Confirmation.CONFIRMED, Confirmation.DECLINED])
