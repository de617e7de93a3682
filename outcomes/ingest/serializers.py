"""The bodies of the outcomes endpoints (contract §2)."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from wire.http.bounded_lists import MAX_ITEMS, BatchItem
from wire.http.fields import EnvironmentName, ExactText, Form, Moment


class OutcomeItem(BatchItem):
    """One outcome of a conversation."""

    conversationId = ExactText(max_length=255, help_text="The conversation's id exactly as the widget gave it.")
    outcomeKey = ExactText(max_length=128, help_text="The label of the outcome, compared character by character.")


class OutcomeBatch(Form):
    environment = EnvironmentName()
    outcomes = OutcomeItem(many=True, help_text=f"At most {MAX_ITEMS}.")


class OutcomeReceipt(serializers.Serializer[Any]):
    recorded = serializers.IntegerField(help_text="Items of this request whose conversation is known.")
    unknownConversations = serializers.ListField(
        child=serializers.CharField(), help_text="Each unrecognised id once, in order of first appearance."
    )


class ConversationItem(BatchItem):
    """One conversation of the assistant with a user."""

    conversationId = ExactText(max_length=255, help_text="The conversation's id exactly as the widget gave it.")
    startedAt = Moment(required=False, help_text="When the conversation started, in Unix seconds. Default: now.")


class ConversationBatch(Form):
    environment = EnvironmentName()
    conversations = ConversationItem(many=True, help_text=f"At most {MAX_ITEMS}.")


class ConversationReceipt(serializers.Serializer[Any]):
    registered = serializers.IntegerField()
    alreadyKnown = serializers.IntegerField(help_text="Items whose conversation was known before.")
    healedOutcomes = serializers.IntegerField(help_text="Broken joins that became outcomes.")
