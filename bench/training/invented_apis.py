"""Traffic of invented APIs with what public recordings lack: short links, paths that begin with a tenant, few calls."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from affidavit._json import ABSENT
from bench._support.recordings import PathExchange, PathRecording, make_recording

Call = tuple[str, Any]
"""`METHOD path` and the answer. In the path, `{name}|value` is data, and `{name?}|word` is a word of a fixed set."""

_FIRST = [
    "amber",
    "brisk",
    "calm",
    "dusty",
    "eager",
    "faint",
    "grand",
    "humble",
    "ivory",
    "jolly",
    "keen",
    "lunar",
    "misty",
    "noble",
    "olive",
    "plain",
    "acme",
    "jane",
]
_SECOND = [
    "otter",
    "falcon",
    "maple",
    "harbor",
    "river",
    "comet",
    "lantern",
    "meadow",
    "pebble",
    "quartz",
    "ridge",
    "saddle",
    "globex",
    "initech",
    "doe",
    "storm",
]
_ACTIONS = ["fetch", "get", "send", "check", "test", "create"]
_NOUNS = [
    "orders",
    "claims",
    "parcels",
    "seats",
    "invoices",
    "lounges",
    "crates",
    "couriers",
    "pets",
    "rooms",
    "teams",
    "labels",
]
_SECTIONS = [
    "plain",
    "carts",
    "basket",
    "ledger",
    "tariff",
    "depot",
    "kiosk",
    "shop",
    "catalog",
    "inbox",
    "wallet",
    "feed",
]
_SINGULAR = ["user", "channel", "room", "customer", "account", "device"]
_MODULES = [
    "accounts",
    "billing",
    "catalog",
    "events",
    "identity",
    "media",
    "messages",
    "reports",
    "search",
    "security",
    "storage",
    "users",
]
_STYLES: tuple[Callable[[str, str, int], str], ...] = (
    lambda first, second, number: f"{first}-{second}",
    lambda first, second, number: second,
    lambda first, second, number: first,
    lambda first, second, number: f"{first}_{second}",
    lambda first, second, number: f"{first.title()}{second.title()}",
    lambda first, second, number: f"{first}{second}{number}",
    lambda first, second, number: f"{first}-{second}.example",
)
_PREFIXES = ("", "/api", "/v1", "/api/v2")
RECORDINGS_PER_KIND = 30


def invent_recordings() -> list[PathRecording]:
    """Return small recordings, the same ones at each call. Each kind of traffic counts as an API of its own."""
    kinds = (
        _one_link, _short_links, _tenants_first, _listed_parents, _beside_values, _keys_behind_data,
        _many_behind_data, _named_resources, _behind_a_singular, _words_as_names, _actions_as_names, _constants,
        _fixed_words, _ordinary, _domains_first, _qualified_words, _dotted_names,
    )  # fmt: skip
    return [
        make_recording(f"invented_{kind.__name__}-{seed}", map(_split_call, kind(random.Random(seed))))
        for kind in kinds
        for seed in range(RECORDINGS_PER_KIND)
    ]


def _split_call(call: Call) -> tuple[PathExchange, str]:
    method, path = call[0].split(" ", 1)
    segments = [segment.partition("|") for segment in path.split("/")]
    raw_path = "/".join(value or template_segment for template_segment, _, value in segments)
    template = "/".join(template_segment for template_segment, _, _ in segments)
    answer = ABSENT if call[1] is None else call[1]
    return PathExchange(method, raw_path, 200, ABSENT, answer), template


def _invent_names(rng: random.Random, most: int = 8) -> list[str]:
    style = rng.choice(_STYLES)
    return [style(rng.choice(_FIRST), rng.choice(_SECOND), rng.randint(1, 99)) for _ in range(rng.randint(1, most))]


def _one_link(rng: random.Random) -> Iterator[Call]:
    body = rng.choice(({"clicks": 3}, None, {"title": "x", "made": ""}))
    yield (
        f"{rng.choice(('GET', 'GET', 'PUT', 'DELETE'))} {rng.choice(_PREFIXES)}/{{slug}}|{_invent_names(rng)[0]}",
        body,
    )


def _listed_parents(rng: random.Random) -> Iterator[Call]:
    prefix, noun, part, names = rng.choice(_PREFIXES), rng.choice(_NOUNS), rng.choice(_NOUNS), _invent_names(rng, 5)
    yield f"GET {prefix}/{noun}", [{"name": name, "size": 3} for name in names]
    for name in names:
        yield f"GET {prefix}/{noun}/{{name}}|{name}/{part}", {part: []}


def _beside_values(rng: random.Random) -> Iterator[Call]:
    prefix, noun = rng.choice(_PREFIXES), rng.choice(_NOUNS)
    thing = {"size": 1, "owner": "x", "checksum": "y"}
    for _ in range(rng.randint(1, 4)):
        yield f"GET {prefix}/{noun}/{{id}}|{rng.getrandbits(40):010x}1a2b", thing
    if rng.random() < 0.5:
        for name in _invent_names(rng, 3):
            yield f"GET {prefix}/{noun}/{{id}}|{name}", thing
    else:
        for word in rng.sample(["quota", "usage", "statistics", "recent"], 2):
            yield f"GET {prefix}/{noun}/{word}", {"limit": 1, "used": 2, "left": 3}


def _keys_behind_data(rng: random.Random) -> Iterator[Call]:
    noun, part = rng.choice(_NOUNS), rng.choice(("", "/metadata", "/tags", "/user_data"))
    method, body = rng.choice(("GET", "POST", "PUT")), rng.choice((None, {"value": "x"}))
    for _ in range(rng.randint(3, 10) if part else 8):
        for name in _invent_names(rng, 5):
            yield f"{method} /{noun}/{{id}}|{rng.randint(9, 99)}{part}/{{key}}|{name}", body


def _many_behind_data(rng: random.Random) -> Iterator[Call]:
    noun, method, number = rng.choice(_NOUNS), rng.choice(("GET", "POST", "DELETE")), rng.randint(1, 3)
    for name in _invent_names(rng, 40):
        yield (
            f"{method} /{noun}/{{id}}|{rng.randint(9, 9 + number)}/{{name}}|{name}",
            rng.choice((None, {"value": "x"})),
        )


def _short_links(rng: random.Random) -> Iterator[Call]:
    prefix, echoed = rng.choice(_PREFIXES), rng.random() < 0.2
    for name in _invent_names(rng, 20):
        yield f"GET {prefix}/{{slug}}|{name}", {"slug": name, "clicks": 3} if echoed else {"clicks": 3, "open": True}
    if rng.random() < 0.5:
        yield f"POST {prefix}/login", {"token": "x"}


def _tenants_first(rng: random.Random) -> Iterator[Call]:
    prefix, inner, nouns = rng.choice((*_PREFIXES, "/v3")), rng.choice(("", "", "/api/v2")), rng.sample(_NOUNS, 6)
    if prefix and rng.random() < 0.5:
        for noun in nouns[2:]:
            yield f"GET {prefix}/{noun}", [{"id": 17, "made": ""}]
            yield f"GET {prefix}/{noun}/{{id}}|{rng.randint(9, 9999)}", {"id": 17, "made": ""}
    shared, echoed = rng.choice((2, 4)), rng.random() < 0.3
    for name in _invent_names(rng, 5):
        answer = {"total": 1, "made": "", **({rng.choice(("tenant", "bucket", "shop")): name} if echoed else {})}
        if rng.random() < 0.2:
            yield f"GET {prefix}/{{tenant}}|{name}/{{id}}|{rng.randint(9, 9999)}", answer
        for noun in rng.sample(nouns[:shared], rng.randint(1, 2)):
            yield f"GET {prefix}/{{tenant}}|{name}{inner}/{noun}", [answer]
            if rng.random() < 0.4:
                yield f"GET {prefix}/{{tenant}}|{name}{inner}/{noun}/{{id}}|{rng.randint(9, 9999)}", {"total": 1}


def _domains_first(rng: random.Random) -> Iterator[Call]:
    prefix, nouns = rng.choice(("", "/v3", "/v1", "/api/v2")), rng.sample(_NOUNS, 8)
    for noun in nouns[4 : rng.randint(4, 8)]:
        yield f"GET {prefix}/{noun}", [{"id": 17, "made": ""}]
        yield f"GET {prefix}/{noun}/{{id}}|{rng.randint(9, 9999)}", {"id": 17, "made": ""}
    for _ in range(rng.randint(1, 3)):
        name = f"{rng.choice(('', 'mg.', 'mail.'))}{rng.choice(_FIRST)}{rng.choice(_SECOND)}"
        domain = f"{name}.{rng.choice(('com', 'org', 'io', 'example', 'test', 'co.uk'))}"
        for noun in nouns[: rng.randint(1, 4)]:
            written_domain = domain if rng.random() < 0.9 else domain.upper()
            yield (
                f"{rng.choice(('GET', 'POST'))} {prefix}/{{domain}}|{written_domain}/{noun}",
                [{"total": 1, "made": ""}],
            )


def _qualified_words(rng: random.Random) -> Iterator[Call]:
    """Words such as `Lunar.Storage`, most of them in one namespace."""
    prefix, before = rng.choice(_PREFIXES), rng.choice(("providers", "modules", "services", "extensions"))
    noun, namespace = rng.choice(_NOUNS), rng.choice(_FIRST).title()
    yield f"GET {prefix}/{noun}", [{"id": 17, "made": ""}]
    parts = rng.sample(_MODULES, rng.randint(4, 8))
    for part, section in zip(parts, rng.sample(_SECTIONS, len(parts)), strict=True):
        inner = f"{rng.choice(_SECOND).title() if rng.random() < 0.2 else ''}{part.title()}"
        name = f"{namespace if rng.random() < 0.9 else rng.choice(_FIRST).title()}.{inner}"
        word = f"{prefix}/{noun}/{{id}}|{rng.randint(9, 999)}/{before}/{name}"
        for following in {section: 1, **({rng.choice(_SECTIONS): 1} if rng.random() < 0.3 else {})}:
            yield f"GET {word}/{following}", [{"made": "", **({"kind": name} if rng.random() < 0.3 else {})}]
            for thing in _invent_names(rng, 2) if rng.random() < 0.7 else []:
                yield f"{rng.choice(('GET', 'PUT'))} {word}/{following}/{{name}}|{thing}", {"name": thing, "size": 1}


def _dotted_names(rng: random.Random) -> Iterator[Call]:
    """Values such as `Jane.Doe` and `Acme.Orders`. In a fifth of the recordings all have the same first part."""
    prefix, noun, part = rng.choice(_PREFIXES), rng.choice(_NOUNS), rng.choice((*_NOUNS, ""))
    noun = noun if rng.random() < 0.7 else ""
    echoed, method = rng.random() < 0.3, rng.choice(("GET", "PUT", "DELETE"))
    family = rng.choice(_FIRST).title() if rng.random() < 0.2 else ""
    lasts = [*_SECOND, *_NOUNS] if rng.random() < 0.3 else _SECOND
    for other in rng.sample(_NOUNS, rng.randint(0, 4)):
        yield f"GET {prefix}/{other}", [{"id": 17, "made": ""}]
        yield f"GET {prefix}/{other}/{{id}}|{rng.randint(9, 999)}/{rng.choice(('history', 'notes', 'lines'))}", []
    for _ in range(rng.choice((1, 2, 3, 5, 8))):
        name = f"{family or rng.choice(_FIRST).title()}.{rng.choice(lasts).title()}"
        path = "/".join(filter(None, (prefix.strip("/"), noun, f"{{name}}|{name}", part)))
        yield f"{method} /{path}", {"size": 1, **({"name": name} if echoed else {})} if rng.random() < 0.7 else None


def _named_resources(rng: random.Random) -> Iterator[Call]:
    prefix, noun, echoed, body = rng.choice(_PREFIXES), rng.choice(_NOUNS), rng.random() < 0.3, rng.random() < 0.7
    names = _invent_names(rng, 20)
    if rng.random() < 0.4:
        yield f"GET {prefix}/{noun}", [{"name": name} for name in names]
    for name in names:
        answer = {"size": 1, "made": "", **({"name": name} if echoed else {})} if body else None
        yield f"{rng.choice(('GET', 'GET', 'DELETE'))} {prefix}/{noun}/{{name}}|{name}", answer
        if rng.random() < 0.3:
            yield f"GET {prefix}/{noun}/{{name}}|{name}/history", [{"at": 1}]
    if rng.random() < 0.3:
        yield f"GET {prefix}/{noun}/search", {"hits": 1}


def _behind_a_singular(rng: random.Random) -> Iterator[Call]:
    prefix, noun, part = rng.choice(_PREFIXES), rng.choice(_SINGULAR), rng.choice(_NOUNS)
    for name in _invent_names(rng):
        yield f"GET {prefix}/{noun}/{{name}}|{name}", {"joined": 1}
        yield f"GET {prefix}/{noun}/{{name}}|{name}/{part}", [{"sum": 1}]


def _words_as_names(rng: random.Random) -> Iterator[Call]:
    noun, words = rng.choice(_NOUNS), rng.sample(["urgent", "billing", "members", "archive", "private", "status"], 3)
    yield "GET /teams/{id}|17", dict.fromkeys(words, 4)
    if is_listed := rng.random() < 0.5:
        yield f"GET /{noun}", [{"name": word} for word in words]
    for word in words[: rng.choice((1, 1, 2, 3))]:
        echoed = not is_listed or rng.random() < 0.5
        method = "GET" if echoed else rng.choice(("DELETE", "PUT"))
        yield f"{method} /{noun}/{{name}}|{word}", {"name": word, "size": 3} if echoed else None
    for name in _invent_names(rng, 4) if rng.random() < 0.4 else []:
        yield f"GET /{noun}/{{name}}|{name}", {"name": name, "size": 3}


def _actions_as_names(rng: random.Random) -> Iterator[Call]:
    noun, action = rng.choice(_NOUNS), rng.choice(_ACTIONS)
    for name in _invent_names(rng, 6):
        value = f"{action}-{name}-{rng.randint(1, 9)}"
        yield f"GET /v1/{noun}/{{name}}|{value}", {"size": 3}
        if rng.random() < 0.5:
            yield f"POST /v1/{noun}/{{name}}|{value}/{rng.choice(('leave', 'messages'))}", {"done": True}


def _constants(rng: random.Random) -> Iterator[Call]:
    action, constant, key = (
        rng.choice(("publish", "signal", "emit")),
        rng.choice("0_-"),
        f"k-{rng.getrandbits(64):016x}",
    )
    for name in _invent_names(rng, 6):
        yield f"GET /{action}/{{key}}|{key}/{{c?}}|{constant}/{{channel}}|{name}/{{c?}}|{constant}", [1, "Sent"]
        if rng.random() < 0.5:
            yield f"GET /v2/presence/{{key}}|{key}/channel/{{channel}}|{name}/leave", {"status": 200}


def _fixed_words(rng: random.Random) -> Iterator[Call]:
    prefix, noun, ending = rng.choice(_PREFIXES), rng.choice(_NOUNS), rng.choice((".json", ".json", ""))
    for _ in range(rng.randint(1, 12)):
        yield f"GET {prefix}/{noun}/{{id}}|{rng.randint(9, 99999)}{ending}", {"size": 1, "made": ""}
    for word in rng.sample(["me", "show_many", "update_many", "recent", "bulk", "statistics", "export"], 3):
        yield f"{rng.choice(('GET', 'PUT', 'POST'))} {prefix}/{noun}/{word}{ending}", {"total": 1, "job": {"state": ""}}


def _ordinary(rng: random.Random) -> Iterator[Call]:
    prefix = rng.choice(_PREFIXES)
    for section in rng.sample(_SECTIONS, rng.randint(1, 3)):
        body = rng.choice(({"size": 1}, None))
        for _ in range(rng.randint(1, 3)):
            yield f"GET {prefix}/{section}/{{id}}|{rng.randint(9, 9999)}", body
    for noun in rng.sample(_NOUNS, rng.randint(0, 5)):
        if rng.random() < 0.8:
            yield f"GET {prefix}/{noun}", [{"id": 17, "made": ""}]
        if rng.random() < 0.6:
            yield f"GET {prefix}/{noun}/{{id}}|{rng.randint(9, 9999)}", {"id": 17, "made": ""}
        if rng.random() < 0.4:
            yield f"GET {prefix}/{noun}/{{id}}|{rng.randint(9, 9999)}/{rng.choice(('history', 'notes', 'lines'))}", []
        if rng.random() < 0.3:
            yield f"POST {prefix}/{noun}/search", {"hits": 1}
