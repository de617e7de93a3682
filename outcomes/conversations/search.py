"""Conversation ids that begin with a text: a range of the index, however many there are."""

from __future__ import annotations

from outcomes.models import Conversation
from workspaces.models import Environment

LAST_CHARACTER = "\U0010ffff"  # no id that begins with a prefix sorts behind the prefix followed by this character


def find_conversations(environment: Environment, prefix: str, *, limit: int) -> list[Conversation]:
    """Return conversations, registered or only reported, whose id is this text or begins with it; by code point."""
    if not prefix:
        return []
    rows = Conversation.objects.filter(
        environment=environment, conversation_id__gte=prefix, conversation_id__lte=prefix + LAST_CHARACTER
    )
    return list(rows.order_by("conversation_id").only("conversation_id", "started_at")[:limit])
