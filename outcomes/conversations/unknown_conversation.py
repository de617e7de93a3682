"""What the page of a conversation says if its id is not known in the environment."""

from __future__ import annotations

from outcomes.broken_joins.causes.advice import ADVICE
from outcomes.conversations.detail import diagnose_id
from wire.errors import NotFound
from workspaces.models import Environment
from workspaces.pages.not_found_here import NotFoundHere


def explain_unknown_conversation(environment: Environment, conversation_id: str) -> NotFound:
    """Return the error that says that an id is not known here, and where it is known."""
    words = "No conversation with this id was registered or reported in this environment."
    if not conversation_id:
        return NotFound("Name the conversation in the address, as ?id=…")
    diagnosis = diagnose_id(environment, conversation_id)
    if diagnosis.found_in:
        return NotFoundHere(words, environment.readable_siblings.filter(name=diagnosis.found_in))
    return NotFound(f"{words} {ADVICE[diagnosis.kind].meaning}" if diagnosis.kind != "never-seen" else words)
