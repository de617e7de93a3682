"""The rules of an environment that are in force."""

from __future__ import annotations

from django.db.models import QuerySet

from catalog.models import TemplateRule
from catalog.rules.resolution import Rule, RuleSet
from workspaces.models import Environment


def load_template_rules(environment: Environment) -> RuleSet:
    """Return the rules that decide under which template each operation is shown."""
    columns = ("pk", "method", "source", "target", "matching")
    return RuleSet(Rule(*row) for row in active_template_rules(environment).values_list(*columns))


def active_template_rules(environment: Environment) -> QuerySet[TemplateRule]:
    return TemplateRule.objects.filter(environment=environment, reverted_at=None)
