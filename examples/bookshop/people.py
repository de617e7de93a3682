"""The end users: what they do in a conversation."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from examples.bookshop.assistant import Assistant, Site, ToolCall
from examples.bookshop.call_mistakes import MISTAKES
from examples.bookshop.habits import Habits
from examples.bookshop.id_mistakes import REGISTRATION_DELAY, choose_ids
from examples.bookshop.shelves import BOOKS

NAMES = [
    "ada", "amir", "beatriz", "bruno", "chen", "clara", "daria", "diego", "elif", "emil", "farah", "finn",
    "greta", "hana", "hugo", "ines", "ivan", "jonas", "julia", "kofi", "lena", "luca", "maya", "milo", "nadia",
    "noor", "olga", "oskar", "paula", "piet", "rosa", "sami", "selma", "tariq", "thea", "ursula", "viktor",
    "wanda", "yara", "zoe",
]  # fmt: skip
CITIES = ["Lisbon", "Hamburg", "Lyon", "Turin", "Gdańsk", "Ghent", "Graz", "Porto", "Aarhus", "Tartu"]
SEARCHES = ["tolstoy", "austen", "brontë", "dickens", "the", "war", "moby", "hugo", "faust", "poems", "wells", "dante"]
REASONS = ["damaged", "arrived late", "changed my mind", "wrong edition"]

Steps = Generator[float, None, Any]


@dataclass(frozen=True)
class Conversation:
    """One user's conversation.

    reported_id: the conversation id as it reaches the shop.
    """

    assistant: Assistant
    sub: str
    reported_id: str
    habits: Habits

    @property
    def chance(self) -> Random:
        return self.assistant.chance

    def read(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        """Return the JSON of a read. Sometimes its header has version 1, which does not bind the query."""
        call = ToolCall(self.sub, "GET", path, query)
        if self.chance.random() < self.habits.legacy_share:
            return self.assistant.send(call, self.assistant.sign_version_1(call)).json
        return self.assistant.read(call).json

    def write(self, method: str, path: str, body: Any, summary: str, *, step_up: bool = False) -> Steps:
        call = ToolCall(self.sub, method, path, body=body, step_up=step_up)
        return (yield from self.assistant.write(call, summary))

    def pause(self) -> float:
        return self.assistant.pause(8, 60)


def browse(talk: Conversation) -> Steps:
    for _ in range(talk.chance.randint(1, 2)):
        talk.read("/books", {"q": talk.chance.choice(SEARCHES)})
        yield talk.pause()
    if talk.chance.random() < 0.7:
        talk.read(f"/books/{100 + talk.chance.randint(1, len(BOOKS) + 1)}")  # sometimes a book that does not exist


def buy(talk: Conversation) -> Steps:
    talk.read("/books", {"q": talk.chance.choice(SEARCHES)})
    yield talk.pause()
    for _ in range(1 if talk.chance.random() < 0.7 else 2):
        book = talk.chance.randint(1, len(BOOKS))
        talk.read(f"/books/{100 + book}")
        line = {"bookId": 100 + book, "quantity": talk.chance.choice([1, 1, 1, 2]), "conversationId": talk.reported_id}
        summary = f"Put {line['quantity']} × {BOOKS[book - 1][0]} into the cart"
        yield from talk.write("POST", "/cart/lines", line, summary)
        yield talk.pause()
    if talk.chance.random() < 0.2:
        yield from talk.write("DELETE", f"/cart/lines/{100 + book}", {}, f"Take {BOOKS[book - 1][0]} out of the cart")
    lines = (talk.read("/cart") or {}).get("lines")
    if lines and talk.chance.random() < 0.85:
        yield from place_order(talk)


def place_order(talk: Conversation) -> Steps:
    ship_to = {"name": talk.sub, "street": f"Station Road {talk.chance.randint(1, 90)}", "city": find_city(talk.sub)}
    order = {"shipTo": ship_to, "conversationId": talk.reported_id}
    if talk.chance.random() < 0.25:
        order["coupon"] = "AUTUMN" if talk.chance.random() < 0.5 else None
    response = yield from talk.write("POST", "/orders", order, f"Order the cart, to be sent to {ship_to['city']}")
    if response is not None and response.status == 201:
        yield talk.pause()
        talk.read(f"/orders/{response.json['id']}")


def ask_about_order(talk: Conversation) -> Steps:
    orders = (talk.read("/orders") or {}).get("orders")
    yield talk.pause()
    talk.read(f"/orders/{talk.chance.choice(orders)['id']}" if orders else "/orders/10000")


def request_refund(talk: Conversation) -> Steps:
    orders = (talk.read("/orders") or {}).get("orders")
    if not orders:
        return (yield from buy(talk))
    order, reason = talk.chance.choice(orders[:6]), talk.chance.choice(REASONS)
    yield talk.pause()
    body = {"orderId": order["id"], "reason": reason, "conversationId": talk.reported_id}
    summary = f"Refund order {order['id']}, {order['total']['amount']:.2f} EUR ({reason})"
    return (yield from talk.write("POST", "/refunds", body, summary, step_up=order["total"]["amount"] > 20))


def change_newsletter(talk: Conversation) -> Steps:
    talk.read("/account")
    yield talk.pause()
    change = {"newsletter": talk.chance.random() < 0.9, "conversationId": talk.reported_id}
    yield from talk.write("PATCH", "/account", change, "Change the newsletter setting")


SCENARIOS: Mapping[Callable[[Conversation], Steps], int] = {
    browse: 30,
    buy: 42,
    ask_about_order: 14,
    request_refund: 8,
    change_newsletter: 6,
}


def run_conversation(assistant: Assistant, other: Assistant, habits: Habits, scenario: Any = None) -> Steps:
    """Run one conversation from beginning to end.

    other: the assistant of the other environment.
    """
    chance = assistant.chance
    known_id, reported_id, is_late = choose_ids(assistant, other, habits.altered_share)
    if known_id and not is_late:
        assistant.register(known_id)
    talk = Conversation(assistant, f"user-{chance.choice(NAMES)}", reported_id, habits)
    yield assistant.pause(2, 12)
    run_scenario = scenario or chance.choices(list(SCENARIOS), list(SCENARIOS.values()))[0]
    yield from run_scenario(talk)
    if chance.random() < habits.mistake_share:
        yield from make_mistake(talk, other.site)
    if known_id and is_late:
        yield assistant.pause(*REGISTRATION_DELAY)
        assistant.register(known_id)


def make_mistake(talk: Conversation, other: Site, reason: str | None = None) -> Steps:
    """Make one call that must be rejected."""
    reason = reason or talk.chance.choices(list(MISTAKES), [weight for weight, _ in MISTAKES.values()])[0]
    _, mistake = MISTAKES[reason]
    call = ToolCall(talk.sub, "GET", talk.chance.choice(["/cart", "/orders", "/account", "/orders/10001"]))
    return (yield from mistake(talk.assistant, other, call))


def find_city(sub: str) -> str:
    return CITIES[sum(map(ord, sub)) % len(CITIES)]
