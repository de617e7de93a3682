"""The rules of an environment that are in force."""

from __future__ import annotations

from django.db.models import QuerySet

from affidavit.operations import Identity
from catalog.models import HintRule, TemplateRule
from catalog.rules.resolution import Rule, RuleSet
from workspaces.models import Environment


def load_hints(environment: Environment) -> dict[Identity, dict[str, bool]]:
    """Return the values that rules give to hints of tools, by operation and hint.

    The latest rule for a hint applies.
    """
    rules = HintRule.objects.filter(environment=environment, reverted_at=None).order_by("pk")
    hints: dict[Identity, dict[str, bool]] = {}
    for method, key, hint, value in rules.values_list("method", "key", "hint", "value"):
        hints.setdefault(Identity(method, key), {})[hint] = value
    return hints


def load_template_rules(environment: Environment) -> RuleSet:
    """Return the rules that decide under which template each operation is shown."""
    columns = ("pk", "method", "source", "target", "matching")
    return RuleSet(Rule(*row) for row in active_template_rules(environment).values_list(*columns))


def active_template_rules(environment: Environment) -> QuerySet[TemplateRule]:
    return TemplateRule.objects.filter(environment=environment, reverted_at=None)
