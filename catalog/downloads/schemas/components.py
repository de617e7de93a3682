"""The schemas of an OpenAPI document, each distinct object once, under a name (pure)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from catalog.downloads.schemas.names import (
    ERROR,
    Body,
    BodyUse,
    NestedUse,
    Position,
    assign_names,
    choose_common_error,
)

Schema = dict[str, Any]
REFERENCE_PREFIX = "#/components/schemas/"
NULL = {"type": "null"}
ANNOTATIONS = frozenset({"deprecated", "description"})  # of one use of an object, outside of its schema
NULLABLE_OBJECT = ["object", "null"]
NESTING = ("items", "additionalProperties")  # members that hold one schema
NESTED = frozenset({*NESTING, "properties"})


class ComponentSchemas:
    """Takes the schemas of bodies, and gives each distinct object with properties a name.

    Scalars, arrays and maps stay where they are, with references to the objects in them. A reference holds the number
    of its object until `build` replaces it by the name, which depends on all uses.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._schemas: list[Schema] = []
        self._references: list[dict[str, str]] = []
        self._uses: defaultdict[int, list[BodyUse]] = defaultdict(list)

    def add(self, schema: Schema, body: Body) -> Schema:
        """Return the schema of a body with references in place of its objects."""
        schema_with_references = self._share(schema)
        for number, position in find_references(schema_with_references):
            lists = [*self._find_page_lists(number, body)] if position is Position.OBJECT else []
            self._uses[number].append(BodyUse(body, position, is_page=bool(lists)))
            for item in lists:
                for inner, inner_position in find_references(item):
                    self._uses[inner].append(BodyUse(body, inner_position))
        return schema_with_references

    def build(self) -> dict[str, Schema]:
        """Return the schemas by name, sorted; from now on the references hold names."""
        names = self._choose_names()
        for number, reference in enumerate(self._references):
            reference["$ref"] = REFERENCE_PREFIX + names[number]
        return {names[number]: self._schemas[number] for number in sorted(names, key=names.__getitem__)}

    def _share(self, schema: Schema) -> Schema:
        """Return `schema` with references in place of objects. A nullable object becomes a reference or null.

        What a schema says of one use of an object stays beside the reference, so that all uses share the object.
        """
        annotations = {name: schema[name] for name in ANNOTATIONS if name in schema}
        if annotations and schema.get("properties"):
            plain_schema = {name: value for name, value in schema.items() if name not in ANNOTATIONS}
            return {"allOf": [self._share(plain_schema)], **annotations}
        schema_with_references = schema | {name: self._share(schema[name]) for name in NESTING if name in schema}
        if not schema.get("properties"):
            return schema_with_references
        schema_with_references["properties"] = {
            name: inner if inner.keys().isdisjoint(NESTED) else self._share(inner)
            for name, inner in schema["properties"].items()
        }
        is_nullable = schema["type"] == NULLABLE_OBJECT
        if is_nullable:
            schema_with_references["type"] = "object"
        reference = self._refer(schema_with_references)
        return {"anyOf": [reference, NULL]} if is_nullable else reference

    def _refer(self, schema: Schema) -> dict[str, str]:
        """Return the reference to an object's schema. Equal ones share a reference, because properties are sorted."""
        number = self._numbers.setdefault(repr(schema), len(self._schemas))
        if number == len(self._schemas):
            self._schemas.append(schema)
            self._references.append({"$ref": str(number)})
        return self._references[number]

    def _find_page_lists(self, number: int, body: Body) -> Iterator[Schema]:
        for name, schema in self._schemas[number]["properties"].items():
            if "items" in schema and body.is_page_list(name):
                yield schema

    def _choose_names(self) -> dict[int, str]:
        """Name the common error, then the schemas of bodies, then those nested in them, level by level."""
        common_error = choose_common_error(self._uses)
        names = {} if common_error is None else {common_error: ERROR}
        body_uses = {
            number: min(uses, key=lambda use: use.rank) for number, uses in self._uses.items() if number not in names
        }
        level = names | assign_names(body_uses, {name.lower() for name in names.values()})
        taken_names: set[str] = set()
        while level:
            names |= level
            taken_names.update(name.lower() for name in level.values())
            level = assign_names(self._find_nested_uses(level, names), taken_names)
        return names

    def _find_nested_uses(self, parents: Mapping[int, str], names: Mapping[int, str]) -> dict[int, NestedUse]:
        """Return for each unnamed schema directly in `parents` the use that it is named after."""
        uses: dict[int, NestedUse] = {}
        for parent, parent_name in parents.items():
            for property_name, number, position in self._list_nested(parent):
                use = NestedUse(parent_name, property_name, position)
                if number not in names and (number not in uses or use.rank < uses[number].rank):
                    uses[number] = use
        return uses

    def _list_nested(self, parent: int) -> Iterator[tuple[str, int, Position]]:
        """Yield each object directly in `parent` with the name of its property, or with "" if it is a map value."""
        properties = self._schemas[parent]["properties"]
        for name, schema in properties.items():
            for number, position in find_references(schema):
                yield name, number, position
        data = {name: schema for name, schema in self._schemas[parent].items() if name == "additionalProperties"}
        for number, position in find_references(data):
            yield "", number, position


def find_references(schema: Schema, position: Position = Position.OBJECT) -> Iterator[tuple[int, Position]]:
    """Yield the number of each object that a schema refers to, directly or in its items or values."""
    if "$ref" in schema:
        yield int(schema["$ref"]), position
    for inner in (*schema.get("anyOf", ()), *schema.get("allOf", ())):
        yield from find_references(inner, position)
    if "items" in schema:
        yield from find_references(schema["items"], Position.ITEM)
    if "additionalProperties" in schema:
        yield from find_references(schema["additionalProperties"], Position.VALUE)
