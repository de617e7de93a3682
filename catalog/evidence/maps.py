"""Show objects as maps (pure), if their values are alike or a map rule says so.

The evidence of a map's names is kept as it was reported, so that a map can be shown as an object again (contract §4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from affidavit import Evidence
from affidavit.operations import is_alike_map
from catalog.evidence.tree import copy_node, is_leaf, list_children, set_child, sum_evidence
from catalog.shape_pointers import VALUES

IsMap = Callable[[str, Evidence], bool]
"""Takes the pointer and evidence of an object that has names; returns whether it is shown as a map."""


def apply_maps(evidence: Evidence, rules: Mapping[str, bool], *, by_likeness: bool) -> tuple[Evidence, dict[str, int]]:
    """Return the evidence with its maps shown as maps, and the number of names of each map by pointer.

    rules: whether an object is a map, by pointer; a rule wins over likeness.
    by_likeness: whether an object whose values are alike is a map, too.
    """
    name_counts: dict[str, int] = {}
    if not rules and not by_likeness:
        return evidence, name_counts

    def is_map(pointer: str, node: Evidence) -> bool:
        is_shown_as_map = rules.get(pointer, by_likeness and is_alike_map(node))
        if is_shown_as_map:
            name_counts[pointer] = len(node.properties)
        return is_shown_as_map

    return merge_map_values(evidence, is_map), name_counts


def merge_map_values(evidence: Evidence, is_map: IsMap, pointer: str = "") -> Evidence:
    """Return the evidence with the children of each map summed as its values; the same object if there is no map."""
    node = _merge_names(evidence) if evidence.properties and is_map(pointer, evidence) else evidence
    result = node
    for step, child_pointer, child in list_children(node, pointer):
        if is_leaf(child):
            continue  # most nodes are, and reading thousands of them takes time
        new_child = merge_map_values(child, is_map, child_pointer)
        if new_child is not child:
            result = copy_node(node) if result is evidence else result
            set_child(result, step, new_child)
    return result


def _merge_names(evidence: Evidence) -> Evidence:
    node = copy_node(evidence)
    node.properties = {}
    children = list(evidence.properties.values())
    set_child(node, VALUES, sum_evidence(children if evidence.values is None else [*children, evidence.values]))
    return node
