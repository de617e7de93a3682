"""The manual overrides in force that the page of an operation offers to undo: hints of its tool, rules of one node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from catalog.downloads.tools.default_hints import derive_hints
from catalog.evidence.nodes import Node
from catalog.evidence.parts import PartShape
from catalog.models import BaselineReset, HintRule, MapRule, Operation
from catalog.rules.hint_rules import list_operation_hints


def list_hints(operation: Operation) -> list[Mapping[str, Any]]:
    """Return each hint of the operation's tool with its value, and the rule in force that set it, if any."""
    rules = {rule.hint: rule for rule in reversed(list_operation_hints(operation))}
    default_values = derive_hints(operation.method)
    return [
        {
            "name": hint,
            "label": label,
            "value": rules[hint].value if hint in rules else default_values[hint],
            "rule": rules.get(hint),
        }
        for hint, label in HintRule.LABELS.items()
    ]


def find_map_rule(operation: Operation, shape: PartShape, node: Node) -> MapRule | None:
    for rule in operation.map_rules.all():
        if rule.undone_at is None and (rule.part, rule.pointer) == (shape.key, node.pointer):
            return rule
    return None


def find_reset(operation: Operation, shape: PartShape, node: Node) -> BaselineReset | None:
    """Return the latest reset of exactly this node that was made on this operation and not undone."""
    resets = (reset for reset in operation.baseline_resets.all() if reset.undone_at is None and not reset.through_id)
    of_node = [reset for reset in resets if (reset.part, reset.pointer) == (shape.key, node.pointer)]
    return max(of_node, key=lambda reset: reset.epoch, default=None)
