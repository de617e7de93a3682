"""The history of one property: its drift, and what replaced it."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import QuerySet

from catalog.change_kinds import NO_LONGER_SEEN, SEEN_AGAIN
from catalog.change_successor import describe_successor
from catalog.models import Drift, Operation
from catalog.shape_pointers import parent_pointer

# Kinds of changes that hold for all properties in an object, too, but are reported for the object alone
KINDS_OF_WHOLE = ("new", "gone", NO_LONGER_SEEN, SEEN_AGAIN)


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
    rows = _drift_of(operation, part).filter(kind=NO_LONGER_SEEN, after=describe_successor(name)).order_by("-id")
    pointers = rows.values_list("pointer", flat=True)
    return next((old for old in pointers if parent_pointer(old) == parent_pointer(pointer)), "")


def _drift_of(operation: Operation, part: str) -> QuerySet[Drift]:
    return Drift.objects.filter(environment=operation.environment_id, operation=operation, part=part)
