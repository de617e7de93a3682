"""Parse a descriptor into evidence, or into the list of its faults (contract §4)."""

from __future__ import annotations

from collections.abc import Mapping, Set
from contextlib import suppress
from typing import Any

from affidavit._errors import Fault
from affidavit._json import whole_number

from .evidence import KINDS, MAX_DEPTH, Evidence
from .evidence_to_descriptor import BINARY, WIRE_NAMES

MAX_COUNT = 2**53
MAX_FAULTS = 100  # parsing stops at the next fault
TYPES = frozenset({"string", "number", "integer", "boolean", "null", "array", "object", "unknown"})
UNKNOWN_REASONS = frozenset({"empty", "divergent", "limit"})
CHILD_MEMBERS = frozenset({"items", "properties", "values"})
_KIND_BY_WIRE_NAME = {WIRE_NAMES.get(kind, kind): kind for kind in KINDS if kind != "null"}


class InvalidDescriptor(ValueError):
    """The value is not a descriptor.

    faults: the first MAX_FAULTS + 1, in the order of parsing.
    """

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__(f"{len(faults)} faults in a descriptor, the first: {faults[0].detail}")
        self.faults = faults


def from_descriptor(descriptor: object, *, seen: int, day: int | None = None) -> Evidence:
    """Return the evidence of one descriptor. Raises InvalidDescriptor. Unknown members are ignored.

    seen: how many values the descriptor describes, if it has no `seen` of its own.
    day: when these values were seen, in days since 1970-01-01 UTC.

    Levels beyond `MAX_DEPTH` are cut, not refused. Names that are data go under `values`.
    """
    reader = _Reader()
    with suppress(_TooManyFaults):
        evidence = reader.read_node(descriptor, "", seen, level=1)
    if reader.faults:
        raise InvalidDescriptor(reader.faults)
    if day is not None:
        evidence.stamp(day)
    return evidence


class _TooManyFaults(Exception):
    """Raised to stop parsing: there are more faults than anybody reads."""


class _Reader:
    """Read one descriptor and go on after a fault, so that all faults are reported together."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def add_fault(self, pointer: str, code: str, detail: str) -> None:
        self.faults.append(Fault(pointer, code, detail))
        if len(self.faults) > MAX_FAULTS:
            raise _TooManyFaults

    def read_node(self, node: object, pointer: str, default: int, *, level: int, items: bool = False) -> Evidence:
        """Return the evidence of a node.

        default: the value of `seen` if the node has none.
        items: whether the node describes the items of an array.
        """
        if not isinstance(node, dict):
            self.add_fault(pointer, "wrong-type", "A descriptor is an object.")
            return Evidence()
        evidence = Evidence()
        faults_before = len(self.faults)
        shape = self.read_type(node, pointer)
        if items and shape == "empty":
            default = 0
        evidence.counts = self.read_counts(node, pointer, shape, default)
        is_sound = len(self.faults) == faults_before
        evidence.redacted = self.read_flag(node, "redacted", pointer)
        evidence.binary = node.get("format") == BINARY
        if level > MAX_DEPTH:
            evidence.counts = {"limit": evidence.seen} if is_sound else {}
            return evidence
        if self.read_flag(node, "collapsed", pointer):
            evidence.collapse()
        if not is_sound:
            evidence.counts = {"divergent": MAX_COUNT}  # agrees with any children: one fault is enough
        self.read_children(evidence, node, pointer, level + 1)
        if not is_sound:
            evidence.counts = {}  # so that the parent is not compared with wrong counts
        return evidence

    def read_type(self, node: Mapping[str, Any], pointer: str) -> str | None:
        """Return the kind to count if there is no `types`: a type, or why the type is unknown. None after a fault."""
        name = self.read_choice(TYPES, node, "type", pointer)
        reason = self.read_choice(UNKNOWN_REASONS, {"reason": "empty", **node}, "reason", pointer)
        if node.get("of", "object") != "object":
            self.add_fault(f"{pointer}/of", "wrong-type", 'Send "object", or leave the member out.')
        if name == "array" and "items" not in node:
            self.add_fault(f"{pointer}/items", "required", "Send the descriptor of the array's items.")
        if name == "object" and "properties" not in node and "values" not in node:
            self.add_fault(f"{pointer}/properties", "required", "Send the object's properties, or its values.")
        if name != "unknown":
            return name
        if reason == "empty" and "of" in node:
            return "object"
        # A node with children but without a reason is not empty, because values were seen in it.
        return "divergent" if "reason" not in node and not CHILD_MEMBERS.isdisjoint(node) else reason

    def read_choice(self, choices: Set[str], node: Mapping[str, Any], name: str, pointer: str) -> str | None:
        word = node.get(name)
        if isinstance(word, str) and word in choices:
            return word
        code = f"unknown-{name}" if name in node else "required"
        self.add_fault(f"{pointer}/{name}", code, f"Send one of: {', '.join(sorted(choices))}.")
        return None

    def read_counts(self, node: Mapping[str, Any], pointer: str, shape: str | None, default: int) -> dict[str, int]:
        """Return the count of each kind; {} if the type or a count is invalid, so that it is not compared any further.

        The count of nulls is 0 if the node is `nullable` and has no `nulls`.
        """
        faults_before = len(self.faults)
        seen = self.read_count(node, "seen", pointer)
        nulls = self.read_count(node, "nulls", pointer)
        kinds = self.read_types(node, pointer)
        nullable = self.read_flag(node, "nullable", pointer) or bool(nulls) or shape == "null"
        if shape is None or len(self.faults) > faults_before:
            return {}
        if kinds:
            self.check_sum(kinds, nulls or 0, seen, pointer)
            self.check_kinds(kinds, shape, node, pointer)
        elif shape == "null":
            nulls = self.count_nulls(nulls, default if seen is None else seen, pointer)
        else:
            kinds = {shape: self.count_values(default, seen, nulls or 0, pointer)}
        if not kinds.get("empty", 1):
            del kinds["empty"]
        return {**kinds, "null": nulls or 0} if nullable else kinds

    def read_types(self, node: Mapping[str, Any], pointer: str) -> dict[str, int]:
        types = node.get("types", {})
        if not isinstance(types, dict):
            self.add_fault(f"{pointer}/types", "wrong-type", "Send an object of counts by type.")
            return {}
        kinds: dict[str, int] = {}
        for name in types:
            if name not in _KIND_BY_WIRE_NAME:
                type_pointer = f"{pointer}/types/{_escape_token(name)}"
                self.add_fault(type_pointer, "unknown-type", f"Count only: {', '.join(sorted(_KIND_BY_WIRE_NAME))}.")
            else:
                kinds[_KIND_BY_WIRE_NAME[name]] = self.read_count(types, name, f"{pointer}/types") or 0
        return kinds

    def check_sum(self, kinds: Mapping[str, int], nulls: int, seen: int | None, pointer: str) -> None:
        total = sum(kinds.values()) + nulls
        if total > MAX_COUNT or (seen is not None and total != seen):
            self.add_fault(f"{pointer}/types", "contradictory-counts", "Types and nulls have to add up to seen.")

    def check_kinds(self, kinds: Mapping[str, int], shape: str, node: Mapping[str, Any], pointer: str) -> None:
        """Check that the type, or the reason why it is unknown, follows from the counted types."""
        if shape not in UNKNOWN_REASONS:
            matching = {shape, "integer"} if shape == "number" else {shape}
            is_sound = not kinds.keys() - {"empty"} - matching
        else:
            reasons = {shape} if "reason" in node else UNKNOWN_REASONS
            is_sound = self.find_reason(kinds) in reasons
        if not is_sound:
            self.add_fault(f"{pointer}/types", "contradictory-counts", "The type and the counted types differ.")

    def find_reason(self, kinds: Mapping[str, int]) -> str | None:
        """Return why the type of these kinds is unknown; None if they are one type."""
        types = {"number" if kind == "integer" else kind for kind in kinds} - UNKNOWN_REASONS
        if len(types) > 1 or "divergent" in kinds:
            return "divergent"
        if "limit" in kinds:
            return "limit"
        return None if types else "empty"

    def count_nulls(self, nulls: int | None, seen: int, pointer: str) -> int:
        if nulls is not None and nulls != seen:
            self.add_fault(f"{pointer}/nulls", "contradictory-counts", "If the type is null, nulls has to equal seen.")
        return seen

    def count_values(self, default: int, seen: int | None, nulls: int, pointer: str) -> int:
        """Return how many of the values seen were not null."""
        values = default if seen is None else seen
        if seen is not None and nulls > seen:
            self.add_fault(f"{pointer}/nulls", "contradictory-counts", "There are more nulls than values seen.")
        elif 0 < values <= nulls:
            self.add_fault(f"{pointer}/nulls", "contradictory-counts", "If all values seen are null, the type is null.")
        return max(values - nulls, 0)

    def read_count(self, node: Mapping[str, Any], name: str, pointer: str) -> int | None:
        if name not in node:
            return None
        count = whole_number(node[name])
        if count is not None and 0 <= count <= MAX_COUNT:
            return count
        self.add_fault(f"{pointer}/{_escape_token(name)}", "invalid-count", "Send an integer from 0 to 2^53.")
        return None

    def read_flag(self, node: Mapping[str, Any], name: str, pointer: str) -> bool:
        flag = node.get(name, False)
        if not isinstance(flag, bool):
            self.add_fault(f"{pointer}/{name}", "wrong-type", "Send true or false.")
        return flag is True

    def read_children(self, evidence: Evidence, node: Mapping[str, Any], pointer: str, level: int) -> None:
        """Read items, values and properties, and check their counts against those of their parent."""
        self.check_inside(node, evidence.counts, pointer)
        divergent = evidence.counts.get("divergent", 0)  # may be arrays or objects
        arrays, objects = evidence.counts.get("array", 0), evidence.counts.get("object", 0)
        if "items" in node:
            child = self.read_node(node["items"], f"{pointer}/items", arrays, level=level, items=True)
            self.check_parent(child, arrays + divergent, f"{pointer}/items")
            evidence.items = None if child.is_blank else child
        if "values" in node:
            child = self.read_node(node["values"], f"{pointer}/values", objects, level=level)
            self.check_parent(child, objects + divergent, f"{pointer}/values")
            evidence.values = None if child.is_blank else child
        self.read_properties(evidence, node.get("properties", {}), f"{pointer}/properties", level)

    def check_inside(self, node: Mapping[str, Any], kinds: Mapping[str, int], pointer: str) -> None:
        """Check that items belong to an array, properties and values to an object, as far as the type is known."""
        for name, parent in (("items", "array"), ("properties", "object"), ("values", "object")):
            if name in node and kinds.keys().isdisjoint({parent, "divergent", "limit"}):
                detail = f"Send this member only if an {parent} was seen, or if the type is unknown, but not empty."
                self.add_fault(f"{pointer}/{name}", "contradictory-type", detail)

    def check_parent(self, child: Evidence, parents: int, pointer: str) -> None:
        if child.seen and not parents:
            self.add_fault(f"{pointer}/seen", "contradictory-counts", "No array or object was seen for these values.")

    def read_properties(self, evidence: Evidence, node: object, pointer: str, level: int) -> None:
        if not isinstance(node, dict):
            self.add_fault(pointer, "wrong-type", "Send an object of descriptors by name.")
            return
        objects = evidence.counts.get("object", 0)
        for name, child_node in node.items():
            child_pointer = f"{pointer}/{_escape_token(name)}"
            child = self.read_node(child_node, child_pointer, objects, level=level)
            if child.seen > objects + evidence.counts.get("divergent", 0):
                detail = "A property cannot be seen more often than its object."
                self.add_fault(f"{child_pointer}/seen", "contradictory-counts", detail)
            evidence.take_property(name, child)


def _escape_token(name: str) -> str:
    """Return a member name as an RFC 6901 reference token."""
    return name.replace("~", "~0").replace("/", "~1")
