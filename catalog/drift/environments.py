"""The comparison of two environments: how the operations of one differ from those of another."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from catalog.change_labels import BOTH
from catalog.drift.compare import Change, compare_outlines
from catalog.drift.queries import OperationKey, find_all_absent, load_outline_digests, load_outlines
from catalog.drift.type_names import name_types
from catalog.evidence.outline_nodes import remove_properties
from catalog.evidence.outlines import Outline
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

    An environment in which nothing was observed is not compared: all of the other would be new or gone. Properties that
    are no longer seen count as missing. Outlines are read only where digests or missing properties differ.
    """
    before, after = load_outline_digests(environment), load_outline_digests(against)
    if not (before and after):
        return
    absent_before, absent_after = find_all_absent(environment), find_all_absent(against)
    changed_keys = {
        key
        for key in before.keys() & after.keys()
        if before[key][1] != after[key][1] or absent_before.get(key) != absent_after.get(key)
    }
    outlines_before = _load_current_outlines(environment, changed_keys, absent_before)
    outlines_after = _load_current_outlines(against, changed_keys, absent_after)
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


def _load_current_outlines(
    environment: Environment, keys: Collection[OperationKey], absent: Mapping[OperationKey, Collection[tuple[str, str]]]
) -> Mapping[OperationKey, Outline]:
    """Return the outlines of these operations without what is no longer seen."""
    outlines = load_outlines(environment, keys)
    return {key: remove_properties(outline, absent.get(key, ())) for key, outline in outlines.items()}


def _name_types(
    change: Change, method: str, environment: Environment, path: str, against: Environment, path_against: str
) -> Change:
    if SEVERAL_TYPES not in change.before + change.after:
        return change
    return name_types(change, find_operation(environment, method, path), find_operation(against, method, path_against))
