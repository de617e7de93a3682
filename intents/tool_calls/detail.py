"""What is stored of one tool call in one environment: its intents, confirmations and rejections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from intents.models import Confirmation, MintedIntent, Rejection
from workspaces.models import Environment


@dataclass(frozen=True)
class ToolCall:
    """The rows that name a tool call, each kind the earliest first."""

    intents: QuerySet[MintedIntent]
    rejections: QuerySet[Rejection]

    @property
    def exists(self) -> bool:
        return self.intents.exists() or self.rejections.exists()

    def list_confirmations(self, limit: int) -> Sequence[Confirmation]:
        """Return the confirmations of the first intents, each once."""
        confirmations = {intent.confirmation for intent in self.intents[:limit] if intent.confirmation}
        return sorted(confirmations, key=lambda confirmation: confirmation.created_at)


def find_tool_call(environment: Environment, tool_call_id: str) -> ToolCall:
    """Return what names this tool call; empty where nothing does."""
    named = {"environment": environment, "tool_call_id": tool_call_id}
    intents = MintedIntent.objects.filter(**named).select_related("confirmation").order_by("issued_at", "id")
    return ToolCall(intents, Rejection.objects.filter(**named).order_by("occurred_at", "id"))


def list_environments_with(environment: Environment, tool_call_id: str) -> Iterator[str]:
    """Yield the other environments of the workspace that know a tool call, by name."""
    for sibling in environment.workspace.environments.exclude(pk=environment.pk).order_by("name"):
        if find_tool_call(sibling, tool_call_id).exists:
            yield sibling.name
