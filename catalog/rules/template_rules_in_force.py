"""The template rules of an environment that are in force, and the names of reported templates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from django.db.models import QuerySet

from affidavit.operations import choose_names, fill_names
from catalog.evidence.reported_operation import read_facts
from catalog.models import Operation, TemplateRule
from catalog.operation_queries import LARGE_TEXTS
from catalog.rules.template_resolution import Rule, RuleSet
from workspaces.models import Environment


def load_template_rules(environment: Environment) -> RuleSet:
    """Return the rules that decide under which template each operation is shown."""
    columns = ("pk", "method", "source", "target", "matching")
    return RuleSet(Rule(*row) for row in active_template_rules(environment).values_list(*columns))


def active_template_rules(environment: Environment) -> QuerySet[TemplateRule]:
    return TemplateRule.objects.filter(environment=environment, undone_at=None)


def name_templates(environment: Environment, keys: Collection[str]) -> dict[str, str]:
    """Return each of these nameless templates with the names that reporters use most.

    Those that were never reported are left out.
    """
    names: dict[str, Counter[str]] = {}
    rows = Operation.objects.filter(environment=environment, key__in=keys).defer(*LARGE_TEXTS)
    for row in rows:
        facts = read_facts(row)
        if facts.get("statuses"):
            parameter_names = choose_names([Counter(counts) for counts in facts["names"]])
            path = fill_names(row.key, parameter_names)
            names.setdefault(row.key, Counter())[path] += sum(facts["statuses"].values())
    return {key: counts.most_common(1)[0][0] for key, counts in names.items()}
