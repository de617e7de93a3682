"""Find the conversation ids that begin with a text, by a range scan of the index."""

from __future__ import annotations

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


def list_knowing_environments(environment: Environment, conversation_id: str) -> list[str]:
    """Return the names of the other environments of the workspace in which this conversation is registered."""
    names = dict(environment.readable_siblings.values_list("pk", "name"))
    rows = Conversation.objects.filter(environment__in=names, conversation_id=conversation_id, started_at__isnull=False)
    return sorted(names[pk] for pk in rows.values_list("environment_id", flat=True))
