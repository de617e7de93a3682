"""Where else in the catalog the name of a property occurs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from catalog.evidence.outline_nodes import OutlineNode, list_outline_nodes
from catalog.models import Operation
from catalog.operation_queries import BY_PATH, visible_operations
from workspaces.models import Environment

MAX_OPERATIONS_SEARCHED = 50  # operations with a property of this name; further ones are not read
MAX_NAMESAKES = 20  # rows on the page


@dataclass(frozen=True)
class Namesake:
    """Another property of the same name."""

    operation: Operation
    node: OutlineNode


@dataclass(frozen=True)
class Namesakes:
    """Other properties of one name.

    operations: how many operations have such a property, including the property's own.
    """

    rows: Sequence[Namesake]
    operations: int
    is_cut: bool


def find_namesakes(environment: Environment, operation: Operation, part: str, pointer: str, name: str) -> Namesakes:
    """Return other properties of the same name in the catalog, sorted by path."""
    operations = visible_operations(environment).filter(search__contains=f"\n{name}:")
    count = operations.count()
    rows: list[Namesake] = []
    own = (operation.pk, part, pointer)
    columns = ("method", "path", "outline")
    for other in operations.order_by(*BY_PATH).only(*columns)[:MAX_OPERATIONS_SEARCHED]:
        rows += (Namesake(other, node) for node in _find_same_name(other, name) if (other.pk, *node[:2]) != own)
        if len(rows) > MAX_NAMESAKES:
            break
    return Namesakes(rows[:MAX_NAMESAKES], count, len(rows) > MAX_NAMESAKES or count > MAX_OPERATIONS_SEARCHED)


def _find_same_name(operation: Operation, name: str) -> Iterator[OutlineNode]:
    return (node for node in list_outline_nodes(json.loads(operation.outline)) if node.name == name)
