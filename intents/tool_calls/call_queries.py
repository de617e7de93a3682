"""Collect the stored data of one tool call in one environment: its intents, confirmations and rejections."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import QuerySet

from intents.models import Confirmation, MintedIntent, Rejection
from intents.rejections.detail.call_events import list_confirmations_of
from workspaces.models import Environment


@dataclass(frozen=True)
class ToolCall:
    """The intents and rejections that name a tool call, earliest first."""

    intents: QuerySet[MintedIntent]
    rejections: QuerySet[Rejection]

    @property
    def exists(self) -> bool:
        return self.intents.exists() or self.rejections.exists()

    def list_confirmations(self, limit: int | None = None) -> QuerySet[Confirmation]:
        """Return the confirmations of the first `limit` intents (None: of all), without repetition."""
        return list_confirmations_of(self.intents[:limit])


def find_tool_call(environment: Environment, tool_call_id: str) -> ToolCall:
    """Return the rows that name this tool call; empty if none does."""
    conditions = {"environment": environment, "tool_call_id": tool_call_id}
    intents = MintedIntent.objects.filter(**conditions).order_by("issued_at", "id")
    return ToolCall(intents, Rejection.objects.filter(**conditions).order_by("occurred_at", "id"))


def list_environments_with(environment: Environment, tool_call_id: str) -> Iterator[Environment]:
    """Yield the other environments that store this tool call and that the reader may see, sorted by name."""
    for sibling in environment.readable_siblings.order_by("name"):
        if find_tool_call(sibling, tool_call_id).exists:
            yield sibling
