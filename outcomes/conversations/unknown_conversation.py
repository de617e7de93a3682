"""What the page of a conversation says if its id is not known in the environment."""

from __future__ import annotations

from outcomes.analytics.comparison_choice import find_sibling
from outcomes.broken_joins.causes.advice import ADVICE
from outcomes.conversations.detail import diagnose_id
from workspaces.models import Environment


def explain_unknown_conversation(environment: Environment, conversation_id: str) -> str:
    """Say that an id is not known here, and where it is known."""
    words = "No conversation with this id was registered or reported in this environment."
    if not conversation_id:
        return "Name the conversation in the address, as ?id=…"
    diagnosis = diagnose_id(environment, conversation_id)
    if diagnosis.found_in:
        return f"{words} It is known in {find_sibling(environment, diagnosis.found_in) or diagnosis.found_in}."
    return f"{words} {ADVICE[diagnosis.kind].meaning}" if diagnosis.kind != "never-seen" else words
