"""Find the conversation ids that begin with a text, by a range scan of the index."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from outcomes.models import Conversation
from workspaces.models import Environment

LAST_CHARACTER = "\U0010ffff"  # an id that begins with a prefix sorts before the prefix followed by this character


def find_conversations(environment: Environment, prefix: str, *, limit: int) -> list[Conversation]:
    """Return conversations, registered or only reported, whose id begins with this text, sorted by code point."""
    if not prefix:
        return []
    rows = Conversation.objects.filter(
        environment=environment, conversation_id__gte=prefix, conversation_id__lte=prefix + LAST_CHARACTER
    )
    return list(rows.order_by("conversation_id").only("conversation_id", "started_at")[:limit])


def list_knowing_environments(environment: Environment, conversation_ids: Collection[str]) -> Mapping[str, list[str]]:
    """Return, by conversation, the other environments in which it is registered, of those that the reader may see."""
    names = dict(environment.readable_siblings.values_list("pk", "name"))
    rows = Conversation.objects.filter(
        environment__in=names, conversation_id__in=conversation_ids, started_at__isnull=False
    )
    names_by_id: dict[str, list[str]] = {}
    for conversation_id, pk in rows.values_list("conversation_id", "environment_id"):
        names_by_id.setdefault(conversation_id, []).append(names[pk])
    return {conversation_id: sorted(knowing) for conversation_id, knowing in names_by_id.items()}


def find_reported(environment: Environment, conversation_ids: Collection[str]) -> set[str]:
    """Return which of these conversations have an outcome here. A move can take away all outcomes of a conversation."""
    rows = Conversation.objects.filter(environment=environment, conversation_id__in=conversation_ids)
    return set(rows.filter(outcomes__isnull=False).values_list("conversation_id", flat=True))
