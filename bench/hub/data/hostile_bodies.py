"""Bodies of at most 4 MiB that cost a careless server time or memory, for most machine endpoints."""

from __future__ import annotations

import gzip
import json
import random
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

MAX_BYTES = 4 * 1024 * 1024
ITEMS = 500
LINES = [{"sku": f"B-{number}", "quantity": number, "price": number / 7, "gift": False} for number in range(ITEMS)]


@dataclass(frozen=True)
class Body:
    """A body as it is sent."""

    raw: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Endpoint:
    """An endpoint that takes a JSON body.

    values: the members of a valid body, except its batch.
    batch: the name of the member with the batch, a list; empty if the endpoint takes no batch.
    item: one item of the batch.
    """

    path: str
    values: Mapping[str, Any]
    batch: str = ""
    item: Mapping[str, Any] = field(default_factory=dict)

    def full_body(self) -> Body:
        """Return a valid body as large as the endpoint is meant for.

        A batch has 500 items, whose ids and keys are as long as they may be. Arguments have 500 lines.
        """
        items = [{**self.item, **self._number_item(number)} for number in range(ITEMS)]
        return dump({**self.fresh_values(), **({self.batch: items} if self.batch else {})})

    def fresh_values(self) -> dict[str, Any]:
        return {**self.values, **({"reportId": str(uuid.uuid4())} if "reportId" in self.values else {})}

    def _number_item(self, number: int) -> dict[str, Any]:
        texts = {"toolCallId": f"{number:a>128}", "conversationId": f"{number:ü>255}", "outcomeKey": f"{number:ü>128}"}
        return {name: text for name, text in texts.items() if name in self.item}


def dump(value: Any) -> Body:
    return Body(json.dumps(value).encode())


def list_endpoints(header: str) -> list[Endpoint]:
    """Return the machine endpoints that take a body, except those of decisions and annotations.

    header: an intent for GET /orders without arguments.
    """
    shape = {"type": "object", "properties": {line: {"type": "string"} for line in ("sku", "title", "note")}}
    observation = {"method": "GET", "path": "/orders/{id}", "status": 200, "count": 1, "response": shape}
    verification = {"result": "expired", "version": 2, "operation": "GET /orders", "toolCallId": "call"}
    call = {"sub": "user-1", "args": {"lines": LINES}}
    received = {
        "header": header,
        "method": "GET",
        "path": "/orders",
        "query": "a=1",
        "contentType": "",
        "bodyBase64": "",
    }
    return [
        Endpoint("/api/conversation-outcomes", {}, "outcomes", {"conversationId": "c", "outcomeKey": "purchase"}),
        Endpoint("/api/conversations", {}, "conversations", {"conversationId": "c"}),
        Endpoint("/api/witness-reports", {"reportId": ""}, "observations", observation),
        Endpoint("/api/verification-reports", {"reportId": ""}, "verifications", verification),
        Endpoint("/api/intents", {**call, "operation": "GET /orders"}),
        Endpoint("/api/confirmations", {**call, "operation": "POST /orders", "summary": "Order 500 books"}),
        Endpoint("/api/intents/verify", received),
    ]


# JSON texts that are repeated, as the items of a list or the members of an object ({n} is a number).
FRAGMENTS = (
    "{{}}", "[]", "0", "1e308", "123456789.123456789", '""', '"\\u00e9"', '"/1/a"', "[[[[[[[[[[]]]]]]]]]]", "null",
    '{{"type":"string"}}', '{{"type":"array","items":{{"type":"integer"}}}}', '{{"a":{{"a":{{"a":1}}}}}}', '"{n}"',
)  # fmt: skip
TEXTS = ("a", "/1", "/{{a}}", "a=1&", "%2F", "é", "\\u0041", "9", "=", "/orders-1234", "A" * 40 + "/")


@dataclass(frozen=True)
class Recipe:
    """How to make a hostile body from a valid one: replace one member by a large value.

    form: list, object, text, number, nested, descriptor or duplicate.
    """

    endpoint: Endpoint
    member: str
    form: str
    fragment: str
    size: int
    in_item: bool = False
    items: int = 1
    compress: bool = False
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def label(self) -> str:
        where = f"{self.items} × {self.member}" if self.in_item else self.member
        return f"{self.endpoint.path} {where}: {self.form} of {self.fragment[:24]!r}, {self.size:,} bytes"

    def build(self) -> Body:
        value = self.build_value(self.size // self.items if self.in_item else self.size)
        marker = json.dumps("\0")
        values = self.endpoint.fresh_values()
        if self.in_item:
            values[self.endpoint.batch] = [{**self.endpoint.item, self.member: "\0"}] * self.items
        else:
            values[self.member] = "\0"
        raw = json.dumps(values).replace(marker, value).encode()[:MAX_BYTES]
        headers = dict(self.headers)
        return (
            Body(gzip.compress(raw, 1), {**headers, "Content-Encoding": "gzip"})
            if self.compress
            else Body(raw, headers)
        )

    def build_value(self, size: int) -> str:
        """Return the JSON text of the large value."""
        text = self.fragment.format(n=0)
        count = max(1, size // (len(text.encode()) + 1))
        repeated = '"a"'
        match self.form:
            case "list":
                return f"[{','.join(self.fragment.format(n=number) for number in range(count))}]"
            case "object":
                count = max(1, size // (len(text.encode()) + 12))
                names = (f'"n{number}":{self.fragment.format(n=number)}' for number in range(count))
                return f"{{{','.join(names)}}}"
            case "duplicate":
                return f"{{{','.join([f'{repeated}:{text}'] * count)}}}"
            case "nested":
                depth = min(count, 120)
                return '{"a":' * depth + f"[{','.join([text] * (count - depth or 1))}]" + "}" * depth
            case "descriptor":
                names = ",".join(f'"n{number}a":{{"type":"integer"}}' for number in range(max(1, size // 26)))
                return f'{{"type":"object","properties":{{{names}}}}}'
            case "number":
                return "9" * size
        return f'"{text * count}"'


def choose_recipe(endpoint: Endpoint, chance: random.Random) -> Recipe:
    in_item = bool(endpoint.batch) and chance.random() < 0.7
    members = [*endpoint.item, "undecided", "parameters", "query", "request", "occurredAt"] if in_item else [
        *endpoint.values, endpoint.batch or "args", "environment", "more"
    ]  # fmt: skip
    form = chance.choice(("list", "object", "text", "number", "nested", "descriptor", "duplicate"))
    return Recipe(
        endpoint=endpoint,
        member=chance.choice([member for member in members if member]),
        form=form,
        fragment=chance.choice(TEXTS if form == "text" else FRAGMENTS),
        size=chance.choice((1_000, 30_000, 400_000, MAX_BYTES - 4_000)),
        in_item=in_item,
        items=chance.choice((1, 10, ITEMS)) if in_item else 1,
        compress=chance.random() < 0.3,
    )


def mutate(recipe: Recipe, chance: random.Random) -> Recipe:
    """Return a mixture of the recipe and a random one, or the recipe with another size."""
    if chance.random() < 0.4:
        size = int(recipe.size * chance.choice((0.5, 0.8, 1.3, 2, 4)))
        return replace(recipe, size=min(max(size, 100), MAX_BYTES - 4_000))
    other = choose_recipe(recipe.endpoint, chance)
    if chance.random() < 0.5:
        return replace(recipe, form=other.form, fragment=other.fragment)
    return replace(other, form=recipe.form, fragment=recipe.fragment)


def build_deep_report() -> Body:
    """Return a valid report of over 3 MiB with thousands of properties, each of which is nested 28 deep."""
    node = '{"type":"string"}'
    for _ in range(28):
        node = f'{{"type":"object","properties":{{"a":{node}}}}}'
    properties = ",".join(f'"p{number}":{node}' for number in range(3_300))
    response = f'{{"type":"object","properties":{{{properties}}}}}'
    observation = f'{{"method":"GET","path":"/deep","status":200,"count":1,"response":{response}}}'
    return Body(f'{{"reportId":"{uuid.uuid4()}","observations":[{observation}]}}'.encode())


def list_known(endpoint: Endpoint) -> dict[str, Callable[[], Body]]:
    """Return the bodies that have slowed this or another server down, each under a short description."""
    member = endpoint.batch or "args"
    bodies: dict[str, Callable[[], Body]] = {
        "4 MiB of {} items": lambda: Body(f'{{"{member}":[{",".join(["{}"] * 1_390_000)}]}}'.encode()),
        "500 items of {}": lambda: Body(f'{{"{member}":[{",".join(["{}"] * ITEMS)}]}}'.encode()),
        "nested 2,000,000 deep": lambda: Body(b"[" * 2_000_000 + b"]" * 2_000_000),
        "a gzip bomb of 200 MiB": lambda: Body(
            gzip.compress(bytes(200 * 1024 * 1024), 9), {"Content-Encoding": "gzip"}
        ),
        "190,000 gzip members": lambda: Body(gzip.compress(b"", 9) * 190_000, {"Content-Encoding": "gzip"}),
        "4 MiB of white space": lambda: Body(b" " * (MAX_BYTES - 2) + b"{}"),
        "4 MiB of quotes": lambda: Body(b'"' * MAX_BYTES),
        "4 MiB of backslashes": lambda: Body(b'{"a":"' + b"\\\\" * 2_000_000 + b'"}'),
        "a long Idempotency-Key": lambda: replace(endpoint.full_body(), headers={"Idempotency-Key": "k" * 8_000}),
    }

    def add(name: str, form: str, fragment: str, **members: Any) -> None:
        recipe = Recipe(endpoint, members.pop("member", member), form, fragment, MAX_BYTES - 4_000, **members)
        bodies[name] = recipe.build

    add("many names", "object", "0")
    add("one name often", "duplicate", "0")
    add("a number of 4 MiB", "number", "9")
    add("many numbers", "list", "123456789.123456789")
    add("deep and wide", "nested", "[[[[[[[[[[]]]]]]]]]]")
    for name in (*endpoint.values, *(["method"] if endpoint.item else [])):
        if name != "args":
            add(f"a long {name}", "text", "/1", member=name)
    if endpoint.path == "/api/witness-reports":
        bodies["1 × a deep descriptor"] = build_deep_report
        for items in (1, ITEMS):
            add(f"{items} × many undecided", "list", "0", member="undecided", in_item=True, items=items)
            add(f"{items} × a long path", "text", "/1", member="path", in_item=True, items=items)
            add(f"{items} × a wide descriptor", "descriptor", "0", member="response", in_item=True, items=items)
            add(
                f"{items} × many parameters",
                "object",
                '{{"type":"string"}}',
                member="parameters",
                in_item=True,
                items=items,
            )
    return bodies
