"""The body and the answers of hosted verification (contract §3); error messages never repeat a value."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from intents.verification.received_request import MAX_METHOD, MAX_PATH
from wire.http.fields import EnvironmentName, ExactText, Flag, Form


@extend_schema_field(OpenApiTypes.BYTE)
class Base64Bytes(serializers.Field[Any, Any, Any, Any]):
    """Bytes in padded base64."""

    default_error_messages = {"invalid": "Send the body's bytes in base64 with its padding, without line ends."}

    def to_internal_value(self, data: Any) -> bytes:
        try:
            return base64.b64decode(data.encode("ascii"), validate=True)
        except (AttributeError, ValueError, binascii.Error):
            self.fail("invalid")


class VerifyForm(Form):
    """A request that a backend received. `query` is raw, without the question mark."""

    environment = EnvironmentName()
    header = ExactText(
        max_length=None,
        required=False,
        allow_blank=True,
        help_text="The value of X-Service-Intent; empty or left out if the request had none.",
    )
    method = ExactText(max_length=MAX_METHOD, help_text="The HTTP method in upper case.")
    path = ExactText(max_length=MAX_PATH, help_text="The decoded path that the framework routes on.")
    query = ExactText(
        max_length=None, required=False, allow_blank=True, help_text="The raw query, without the question mark."
    )
    contentType = ExactText(
        max_length=255, required=False, allow_blank=True, help_text="The Content-Type of the request."
    )
    contentEncoding = ExactText(
        max_length=255, required=False, allow_blank=True, help_text="The Content-Encoding of the request."
    )
    bodyBase64 = Base64Bytes(required=False, help_text="The bytes of the body in base64, as they travelled.")
    stepUp = Flag(required=False, help_text="Whether the user has passed the stronger verification.")


class VerifiedIntent(serializers.Serializer[Any]):
    """The intent of a request that passed."""

    intent = serializers.DictField(help_text="The payload as it was signed.")
