"""What the page of a tool call says if nothing in the environment names it."""

from __future__ import annotations

from intents.tool_calls.queries import list_environments_with
from workspaces.models import Environment


def explain_unknown_tool_call(environment: Environment, tool_call_id: str) -> str:
    """Say that nothing in this environment names the tool call, and in which environments it is known."""
    if not tool_call_id:
        return "Name the tool call in the address, as ?id=…"
    words = (
        "No minted intent and no rejection in this environment names this tool call. Older ones may have been"
        " deleted. Accepted calls are counted, not kept one by one."
    )
    labels = ", ".join(map(str, list_environments_with(environment, tool_call_id)))
    return f"{words} It is known in {labels}." if labels else words
