"""Hint rules set the hints of an operation's MCP tool until they are undone. Hints are no part of a shape.

A hint says how a tool behaves: `readOnlyHint`, for example.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, OuterRef, QuerySet, Subquery, TextField
from django.db.models.functions import Coalesce

from affidavit.operations import Identity
from catalog.models import HintRule, Operation
from catalog.rules.locks import lock_operations
from catalog.rules.override_audit import record_override
from workspaces.audit.record import record_audit
from workspaces.models import Environment


@transaction.atomic
def add_hint_rule(operation: Operation, hint: str, value: bool, *, actor: str, now: datetime) -> HintRule:
    """Let one of HintRule.HINTS be `value` in the tool of this operation.

    If a rule in force already says so, return that rule.
    """
    operation.environment.hold()
    lock_operations(operation.environment)  # two requests at once would both find no such rule, and both add it
    latest = list_operation_hints(operation).filter(hint=hint).first()
    if latest and latest.value == value:
        return latest
    rule = HintRule.objects.create(
        environment=operation.environment,
        method=operation.method,
        key=operation.key,
        hint=hint,
        value=value,
        at=now,
        actor=actor,
    )
    record_override(operation, "tool hint set", actor=actor, now=now, location=rule.location)
    return rule


@transaction.atomic
def undo_hint_rule(rule: HintRule, *, actor: str, now: datetime) -> None:
    """Undo the rule, so that the hint no longer depends on it. A second time changes nothing."""
    rule.environment.hold()
    if HintRule.objects.filter(pk=rule.pk, undone_at=None).update(undone_at=now):
        path = list_hint_rules(rule.environment).values_list("path", flat=True).get(pk=rule.pk)
        operation = f"{rule.method} {path}"
        facts = {"environment": rule.environment.name, "operation": operation, "place": rule.location}
        record_audit(rule.environment.workspace_id, "tool hint undone", facts, actor=actor, now=now)


def list_hint_rules(environment: Environment) -> QuerySet[Any]:
    """Return every rule of an environment with the path of its operation, undone or not, the latest first."""
    operations = Operation.objects.filter(environment=environment, method=OuterRef("method"), key=OuterRef("key"))
    path = Coalesce(Subquery(operations.values("path")[:1]), F("key"), output_field=TextField())
    return HintRule.objects.filter(environment=environment).annotate(path=path)


def list_operation_hints(operation: Operation) -> QuerySet[HintRule]:
    """Return the rules in force for an operation's tool, the latest first."""
    rules = list_hint_rules(operation.environment).filter(undone_at=None)
    return rules.filter(method=operation.method, key=operation.key)


def load_hints(environment: Environment) -> dict[Identity, dict[str, bool]]:
    """Return the values that rules give to hints of tools, by operation and hint.

    The latest rule for a hint applies.
    """
    rules = HintRule.objects.filter(environment=environment, undone_at=None).order_by("pk")
    hints: dict[Identity, dict[str, bool]] = {}
    for method, key, hint, value in rules.values_list("method", "key", "hint", "value"):
        hints.setdefault(Identity(method, key), {})[hint] = value
    return hints
