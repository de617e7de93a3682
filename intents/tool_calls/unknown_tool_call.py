"""What the page of a tool call says if nothing in the environment names it."""

from __future__ import annotations

from intents.tool_calls.call_queries import list_environments_with
from wire.errors import NotFound
from workspaces.models import Environment
from workspaces.pages.not_found_here import NotFoundHere


def explain_unknown_tool_call(environment: Environment, tool_call_id: str) -> NotFound:
    """Return the error that says that nothing here names the tool call, and in which environments it is known."""
    if not tool_call_id:
        return NotFound("Name the tool call in the address, as ?id=…")
    words = (
        "No minted intent and no rejection in this environment names this tool call. Older ones may have been"
        " deleted. Accepted calls are counted, not kept one by one."
    )
    return NotFoundHere(words, list_environments_with(environment, tool_call_id))
