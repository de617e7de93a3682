"""What minting, the gate and hosted verification answer, for the API's own description."""

from __future__ import annotations

from rest_framework import serializers

from affidavit import REASONS
from intents.models import Confirmation


class Minted(serializers.Serializer):
    header = serializers.CharField(help_text="The value of X-Service-Intent; a secret until it expires.")
    payload = serializers.DictField(help_text="What the header says.")


class Asked(serializers.Serializer):
    confirmationId = serializers.UUIDField()
    state = serializers.ChoiceField([Confirmation.PENDING])
    expiresAt = serializers.IntegerField(help_text="Unix seconds.")


class Decided(serializers.Serializer):
    confirmationId = serializers.UUIDField()
    state = serializers.ChoiceField([Confirmation.CONFIRMED, Confirmation.DECLINED])


class Verified(serializers.Serializer):
    intent = serializers.DictField(help_text="The payload as it was signed.")


class Rejected(serializers.Serializer):
    """application/problem+json."""

    reason = serializers.ChoiceField(list(REASONS))
    code = serializers.ChoiceField(["intent-rejected"])
    detail = serializers.CharField()
