"""Name what differs between two definitions of one MCP tool (pure)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

OPERATION_MEMBER, GATE_MEMBER = "affidavit/operation", "affidavit/gate"
_INPUT_PARTS = {"path": "path", "query": "query", "body": "request"}  # the hub's names of parts
SUCCESSES = "2"  # the first digit of the hub's parts for outputs
_SCHEMAS = {"input": "inputSchema", "output": "outputSchema"}
_ANY = "any type"
_ITEMS, _VALUES = "[]", "{}"
_STEPS = {_ITEMS: "~2]", _VALUES: "~3}"}  # for properties named like one of these steps


@dataclass(frozen=True)
class ToolChange:
    """One difference between two definitions.

    subject: `gate`, `input /query/page` and the like.
    part, pointer: the changed node, as the hub's drift names it; the drift's part begins with `part`. Both are "" for a
        change outside of the schemas.
    """

    subject: str
    text: str
    part: str = ""
    pointer: str = ""


@dataclass(frozen=True)
class _Node:
    types: frozenset[str]
    is_required: bool

    @property
    def words(self) -> str:
        types = " or ".join(sorted(self.types, key=lambda name: (name == "null", name)))
        return f"{types}, required" if self.is_required else types


_Nodes = dict[str, _Node]


def list_changes(before: Any, after: Any) -> list[ToolChange]:
    """Return every difference of two definitions that differ; each may be any JSON."""
    before, after = _as_object(before), _as_object(after)
    changes = [*_compare_facts(before, after), *_compare_texts(before, after)]
    for name, member in _SCHEMAS.items():
        changes += _compare_schemas(name, before.get(member), after.get(member))
    return changes or [ToolChange("definition", "changed")]


def read_operation(definition: Any) -> str:
    """Return `GET /orders/{orderId}` of a tool; "" if it names none."""
    operation = _as_object(_as_object(definition).get("_meta")).get(OPERATION_MEMBER)
    return operation if isinstance(operation, str) else ""


def _compare_facts(before: dict[str, Any], after: dict[str, Any]) -> Iterator[ToolChange]:
    old, new = _as_object(before.get("_meta")), _as_object(after.get("_meta"))
    if (old_gate := old.get(GATE_MEMBER)) != (new_gate := new.get(GATE_MEMBER)):
        words = {True: "a call needs a confirmation", False: "a call needs no confirmation"}
        new_words, old_words = (words[gate is True] for gate in (new_gate, old_gate))
        yield ToolChange("gate", f"now {new_words}" if new_words != old_words else "changed")
    if (old_name := read_operation(before)) != (new_name := read_operation(after)):
        yield ToolChange("operation", f"{old_name or 'none'}, now {new_name or 'none'}")
    old, new = _as_object(before.get("annotations")), _as_object(after.get("annotations"))
    for hint in sorted(old.keys() | new.keys()):
        if old.get(hint) != new.get(hint):
            yield ToolChange(hint, f"{_write(old.get(hint))}, now {_write(new.get(hint))}")


def _compare_texts(before: dict[str, Any], after: dict[str, Any]) -> Iterator[ToolChange]:
    for member in ("name", "title", "description"):
        if before.get(member) != after.get(member):
            yield ToolChange(member, f"now {_write(after.get(member))}")


def _write(value: Any) -> str:
    return {True: "true", False: "false"}.get(value, "") if isinstance(value, bool) else str(value or "none")


def _compare_schemas(name: str, before: Any, after: Any) -> Iterator[ToolChange]:
    """Yield only the outermost added or removed node. Under a node of changed type, yield only nodes that both have."""
    old_nodes, new_nodes = _index_nodes(before), _index_nodes(after)
    closed_pointers: set[str] = set()  # nodes under which an added or removed node is not reported
    for pointer in sorted(old_nodes.keys() | new_nodes.keys()):
        old, new = old_nodes.get(pointer), new_nodes.get(pointer)
        if (old is None or new is None) and pointer and pointer.rpartition("/")[0] in closed_pointers:
            closed_pointers.add(pointer)
            continue
        if old is None or new is None or old.types != new.types:
            closed_pointers.add(pointer)
        if text := _describe_difference(old, new):
            yield ToolChange(f"{name} {pointer}".rstrip(), text, *_locate(name, pointer))


def _describe_difference(old: _Node | None, new: _Node | None) -> str:
    if old is None and new is not None:
        return f"new, {new.words}"
    if new is None and old is not None:
        return f"removed, was {old.words}"
    if old is None or new is None or old == new:
        return ""
    types = f"type changed from {_words(old)} to {_words(new)}" if old.types != new.types else ""
    requirement = ""
    if old.is_required != new.is_required:
        requirement = "now required" if new.is_required else "no longer required"
    return ", ".join(filter(None, (types, requirement)))


def _words(node: _Node) -> str:
    return _Node(node.types, is_required=False).words


def _locate(name: str, pointer: str) -> tuple[str, str]:
    """Return part and pointer of a node as the hub's drift names them."""
    if name == "output":
        return SUCCESSES, pointer
    _, *steps = pointer.split("/")
    part = _INPUT_PARTS.get(steps[0], "") if steps else ""
    return part, "".join(f"/{step}" for step in steps[1:])


def _index_nodes(schema: Any) -> _Nodes:
    nodes: _Nodes = {}
    if schema is not None:
        _add_nodes(nodes, schema, "", is_required=False)
    return nodes


def _add_nodes(nodes: _Nodes, schema: Any, pointer: str, *, is_required: bool) -> None:
    """Add a schema's nodes by pointer. The alternatives of a node (`anyOf`) are one node with the types of all."""
    schema = _as_object(schema)
    known_types = nodes[pointer].types if pointer in nodes else frozenset()
    alternatives = _as_list(schema.get("anyOf"))
    own_types = frozenset() if alternatives and "type" not in schema else _read_types(schema)
    nodes[pointer] = _Node(known_types | own_types, is_required)
    for alternative in alternatives:
        _add_nodes(nodes, alternative, pointer, is_required=is_required)
    required_names = [name for name in _as_list(schema.get("required")) if isinstance(name, str)]
    for name, child in _as_object(schema.get("properties")).items():
        step = _STEPS.get(name) or name.replace("~", "~0").replace("/", "~1")
        _add_nodes(nodes, child, f"{pointer}/{step}", is_required=name in required_names)
    for member, step in (("items", _ITEMS), ("additionalProperties", _VALUES)):
        if isinstance(schema.get(member), dict):
            _add_nodes(nodes, schema[member], f"{pointer}/{step}", is_required=False)


def _read_types(schema: dict[str, Any]) -> frozenset[str]:
    types, text_format = schema.get("type"), schema.get("format")
    names = [name for name in (types if isinstance(types, list) else [types]) if isinstance(name, str)]
    suffix = f" ({text_format})" if isinstance(text_format, str) else ""
    return frozenset(f"{name}{suffix}" for name in names or [_ANY])


def _as_object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
