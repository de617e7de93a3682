"""The comparison of two environments: how the operations of one differ from those of another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from catalog.change_labels import BOTH
from catalog.drift.compare import Change, compare_outlines
from catalog.drift.queries import load_outline_digests, load_outlines
from catalog.drift.type_names import name_types
from catalog.evidence.pointers import SEVERAL_TYPES
from catalog.queries import find_operation
from workspaces.models import Environment

WHOLE_OPERATION = "operation"  # stands for the part of a change


@dataclass(frozen=True)
class OperationChange:
    """One change of one operation. If only one environment has the operation, all of it is new or gone."""

    method: str
    path: str
    change: Change


def compare_catalogs(environment: Environment, against: Environment) -> Iterator[OperationChange]:
    """Yield what would change for `environment` if it were like `against`, by path and method.

    An environment in which nothing was observed is not compared: all of the other would be new or gone. Only the
    outlines of operations whose digests differ are read.
    """
    before, after = load_outline_digests(environment), load_outline_digests(against)
    if not (before and after):
        return
    changed_keys = {key for key in before.keys() & after.keys() if before[key][1] != after[key][1]}
    outlines_before, outlines_after = load_outlines(environment, changed_keys), load_outlines(against, changed_keys)
    for key in sorted(before.keys() | after.keys(), key=lambda key: (key[1], key[0])):
        method, path = key[0], (before.get(key) or after[key])[0]
        if key not in after:
            yield OperationChange(method, path, Change(WHOLE_OPERATION, "", "gone", breaks=BOTH))
        elif key not in before:
            yield OperationChange(method, path, Change(WHOLE_OPERATION, "", "new"))
        elif key in changed_keys:
            for change in compare_outlines(outlines_before[key], outlines_after[key]):
                yield OperationChange(
                    method, path, _name_types(change, method, environment, path, against, after[key][0])
                )


def _name_types(
    change: Change, method: str, environment: Environment, path: str, against: Environment, path_against: str
) -> Change:
    if SEVERAL_TYPES not in change.before + change.after:
        return change
    return name_types(change, find_operation(environment, method, path), find_operation(against, method, path_against))
