"""The end users: what they want in a conversation, and what becomes of its id on the way to the shop."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from examples.bookshop.assistant import Assistant, Place, ToolCall
from examples.bookshop.mistakes import MISTAKES
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
ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
LATE = (2_400, 5_400)  # seconds until a conversation is registered that was forgotten at first

Course = Generator[float, None, Any]


@dataclass(frozen=True)
class Habits:
    """How often what happens, as shares. legacy: reads that are signed as version 1; mangled: conversation ids."""

    legacy: float = 0.05
    mangled: float = 0.06
    mistaken: float = 0.11


@dataclass(frozen=True)
class Conversation:
    """One user's talk. shown: the conversation id as it reaches the shop."""

    assistant: Assistant
    sub: str
    shown: str
    habits: Habits

    @property
    def chance(self) -> Random:
        return self.assistant.chance

    def reads(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        """The JSON of a read; sometimes the header is of version 1, which does not bind the query."""
        call = ToolCall(self.sub, "GET", path, query)
        if self.chance.random() < self.habits.legacy:
            return self.assistant.send(call, self.assistant.legacy(call)).json
        return self.assistant.read(call).json

    def writes(self, method: str, path: str, body: Any, summary: str, *, step_up: bool = False) -> Course:
        call = ToolCall(self.sub, method, path, body=body, step_up=step_up)
        return (yield from self.assistant.write(call, summary))

    def thinks(self) -> float:
        return self.assistant.pause(8, 60)


def looks_around(talk: Conversation) -> Course:
    for _ in range(talk.chance.randint(1, 2)):
        talk.reads("/books", {"q": talk.chance.choice(SEARCHES)})
        yield talk.thinks()
    if talk.chance.random() < 0.7:
        talk.reads(f"/books/{100 + talk.chance.randint(1, len(BOOKS) + 1)}")  # one beyond the last, now and then


def buys(talk: Conversation) -> Course:
    talk.reads("/books", {"q": talk.chance.choice(SEARCHES)})
    yield talk.thinks()
    for _ in range(1 if talk.chance.random() < 0.7 else 2):
        book = talk.chance.randint(1, len(BOOKS))
        talk.reads(f"/books/{100 + book}")
        line = {"bookId": 100 + book, "quantity": talk.chance.choice([1, 1, 1, 2]), "conversationId": talk.shown}
        summary = f"Put {line['quantity']} × {BOOKS[book - 1][0]} into the cart"
        yield from talk.writes("POST", "/cart/lines", line, summary)
        yield talk.thinks()
    if talk.chance.random() < 0.2:
        yield from talk.writes("DELETE", f"/cart/lines/{100 + book}", {}, f"Take {BOOKS[book - 1][0]} out of the cart")
    lines = (talk.reads("/cart") or {}).get("lines")
    if lines and talk.chance.random() < 0.85:
        yield from orders(talk)


def orders(talk: Conversation) -> Course:
    ship_to = {"name": talk.sub, "street": f"Station Road {talk.chance.randint(1, 90)}", "city": city_of(talk.sub)}
    order = {"shipTo": ship_to, "conversationId": talk.shown}
    if talk.chance.random() < 0.25:
        order["coupon"] = "AUTUMN" if talk.chance.random() < 0.5 else None
    placed = yield from talk.writes("POST", "/orders", order, f"Order the cart, to be sent to {ship_to['city']}")
    if placed is not None and placed.status == 201:
        yield talk.thinks()
        talk.reads(f"/orders/{placed.json['id']}")


def asks_about_an_order(talk: Conversation) -> Course:
    found = (talk.reads("/orders") or {}).get("orders")
    yield talk.thinks()
    talk.reads(f"/orders/{talk.chance.choice(found)['id']}" if found else "/orders/10000")


def wants_money_back(talk: Conversation) -> Course:
    found = (talk.reads("/orders") or {}).get("orders")
    if not found:
        return (yield from buys(talk))
    order, reason = talk.chance.choice(found[:6]), talk.chance.choice(REASONS)
    yield talk.thinks()
    body = {"orderId": order["id"], "reason": reason, "conversationId": talk.shown}
    summary = f"Refund order {order['id']}, {order['total']['amount']:.2f} EUR ({reason})"
    return (yield from talk.writes("POST", "/refunds", body, summary, step_up=order["total"]["amount"] > 20))


def subscribes(talk: Conversation) -> Course:
    talk.reads("/account")
    yield talk.thinks()
    change = {"newsletter": talk.chance.random() < 0.9, "conversationId": talk.shown}
    yield from talk.writes("PATCH", "/account", change, "Change the newsletter setting")


PLOTS: Mapping[Callable[[Conversation], Course], int] = {
    looks_around: 30,
    buys: 42,
    asks_about_an_order: 14,
    wants_money_back: 8,
    subscribes: 6,
}


def conversation(assistant: Assistant, other: Assistant, habits: Habits, plot: Any = None) -> Course:
    """One conversation from its first word to its last. other: the assistant of the other environment."""
    chance = assistant.chance
    known, shown, late = ids(assistant, other, habits)
    if known and not late:
        assistant.register(known)
    talk = Conversation(assistant, f"user-{chance.choice(NAMES)}", shown, habits)
    yield assistant.pause(2, 12)
    course = plot or chance.choices(list(PLOTS), list(PLOTS.values()))[0]
    yield from course(talk)
    if chance.random() < habits.mistaken:
        yield from goes_wrong(talk, other.place)
    if known and late:
        yield assistant.pause(*LATE)
        assistant.register(known)


def goes_wrong(talk: Conversation, other: Place, reason: str | None = None) -> Course:
    """One call that must be rejected."""
    reason = reason or talk.chance.choices(list(MISTAKES), [weight for weight, _ in MISTAKES.values()])[0]
    _, mistake = MISTAKES[reason]
    call = ToolCall(talk.sub, "GET", talk.chance.choice(["/cart", "/orders", "/account", "/orders/10001"]))
    return (yield from mistake(talk.assistant, other, call))


def ids(assistant: Assistant, other: Assistant, habits: Habits) -> tuple[str, str, bool]:
    """The id to register, the id that reaches the shop, and whether the first comes late."""
    chance, known = assistant.chance, new_id(assistant.chance)
    if chance.random() >= habits.mangled:
        return known, known, False
    way = chance.choices(["other-environment", "altered", "placeholder", "never-seen", "late"], [5, 2, 1.5, 1, 2])[0]
    if way == "other-environment":
        other.register(known)
        return "", known, False
    if way == "altered":
        return known, chance.choice(alterations(known)), False
    if way == "placeholder":
        return known, chance.choice(["undefined", "{{conversationId}}", "[object Object]"]), False
    return ("" if way == "never-seen" else known), known, way == "late"


def alterations(conversation_id: str) -> Sequence[str]:
    return [conversation_id.upper(), f'"{conversation_id}"', f"https://lumen.example/chat/{conversation_id}"]


def new_id(chance: Random) -> str:
    return "conv_" + "".join(chance.choices(ALPHABET, k=14))


def city_of(sub: str) -> str:
    return CITIES[sum(map(ord, sub)) % len(CITIES)]
