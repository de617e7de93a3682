"""How the id of a conversation goes wrong on its way to the shop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from examples.bookshop.assistant import Assistant

REGISTRATION_DELAY = (2_400, 5_400)  # the least and the most seconds until a late conversation is registered

ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
DIAGNOSES: Mapping[str, float] = {
    "other-environment": 5,
    "altered": 2,
    "placeholder": 1.5,
    "never-seen": 1,
    "late": 2,
}
"""How often a conversation id goes wrong in each way: relative weights by the diagnosis that the hub will give.

For `other-environment`, this conversation's id stays right. Besides, the order sync job reports an order of the other
environment.
"""


def choose_ids(assistant: Assistant, other: Assistant, altered_share: float) -> tuple[str, str, bool]:
    """Return the id to register, the id that reaches the shop, and whether the registration is late.

    altered_share: the share of conversations in which one of the DIAGNOSES occurs.

    Sometimes also have the order sync job report an order of the other environment.
    """
    chance, known_id = assistant.chance, generate_id(assistant.chance)
    if chance.random() >= altered_share:
        return known_id, known_id, False
    diagnosis = chance.choices([*DIAGNOSES], [*DIAGNOSES.values()])[0]
    if diagnosis == "other-environment":
        sync_foreign_order(assistant, other)
        return known_id, known_id, False
    if diagnosis == "altered":
        return known_id, chance.choice(list_alterations(known_id)), False
    if diagnosis == "placeholder":
        return known_id, chance.choice(["undefined", "{{conversationId}}", "[object Object]"]), False
    return ("" if diagnosis == "never-seen" else known_id), known_id, diagnosis == "late"


def sync_foreign_order(assistant: Assistant, other: Assistant) -> None:
    """Have the order sync job report an order of the other environment here, because it mixed up the environments."""
    conversation_id = generate_id(assistant.chance)
    other.register(conversation_id)
    assistant.order_sync.report(conversation_id, "purchase")


def list_alterations(conversation_id: str) -> Sequence[str]:
    return [conversation_id.upper(), f'"{conversation_id}"', f"https://lumen.example/chat/{conversation_id}"]


def generate_id(chance: Random) -> str:
    return "conv_" + "".join(chance.choices(ALPHABET, k=14))
