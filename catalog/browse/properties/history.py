"""The history of one property: its drift, what replaced it, and where else its name occurs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from catalog.change_labels import describe_successor
from catalog.evidence.outline_nodes import OutlineNode, list_outline_nodes
from catalog.models import Drift, Operation
from catalog.operation_queries import BY_PATH, visible_operations
from catalog.shape_pointers import parent_pointer
from workspaces.models import Environment

MAX_OPERATIONS_SEARCHED = 50  # operations with a property of this name; further ones are not read
MAX_NAMESAKES = 20  # rows on the page
# Kinds of changes that hold for all properties in an object, too, but are reported for the object alone
KINDS_OF_WHOLE = ("new", "gone", "quiet", "back")


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


def list_property_drift(operation: Operation, part: str, pointer: str) -> list[Drift]:
    """Return the changes of a property, and those changes of objects around it that concern it, too; latest first."""
    pointers = [pointer]
    while pointers[-1]:
        pointers.append(parent_pointer(pointers[-1]))
    return [
        drift
        for drift in _drift_of(operation, part).filter(pointer__in=pointers).order_by("-id")
        if drift.pointer == pointer or drift.kind in KINDS_OF_WHOLE
    ]


def find_successor(drift: Sequence[Drift], pointer: str) -> str:
    """Return the pointer of the property that seems to replace this one; "" for none.

    drift: the changes of this property, the latest first.
    """
    latest = next((change for change in drift if change.pointer == pointer), None)
    return latest.successor if latest else ""


def find_predecessor(operation: Operation, part: str, pointer: str, name: str) -> str:
    """Return the pointer of the property that this one seems to replace; "" for none."""
    rows = _drift_of(operation, part).filter(kind="quiet", after=describe_successor(name)).order_by("-id")
    pointers = rows.values_list("pointer", flat=True)
    return next((old for old in pointers if parent_pointer(old) == parent_pointer(pointer)), "")


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


def _drift_of(operation: Operation, part: str) -> QuerySet[Drift]:
    return Drift.objects.filter(environment=operation.environment_id, operation=operation, part=part)
