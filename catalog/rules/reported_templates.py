"""Find the reported templates behind an operation that is shown, and the template rules that put them there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from affidavit.operations import choose_names, fill_names, strip_names
from catalog.evidence.reported_operation import read_facts
from catalog.models import Operation, TemplateRule
from catalog.rules.template_rules import TEMPLATE_RULE_ERRORS
from catalog.rules.template_rules_in_force import active_template_rules


@dataclass(frozen=True)
class ReportedTemplate:
    """A reported template with the number of its observations.

    is_other: whether it was reported for another operation, which a rule shows here.
    """

    path: str
    observations: int
    is_other: bool


def build_template_context(operation: Operation, address: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the templates behind an operation, the rules that lead to it, and the values of a refused form."""
    error = TEMPLATE_RULE_ERRORS.get(address.get("fault", ""))
    return {
        "reported": list_reported_templates(operation),
        "rules": list_rules_leading_to(operation),
        "fault": error,
        "target": (error and address.get("target")) or operation.path,
        "only": bool(error and address.get("only")),
        "matching": bool(error and address.get("matching")),
        "former_template": find_former_template(operation, address.get("path", "")),
    }


def list_reported_templates(operation: Operation) -> list[ReportedTemplate]:
    """Return all templates whose observations are shown, the most frequent first; [] if no rule concerns them."""
    if operation.reported_facts is None:
        return []
    rows = [row for row in operation.merged_rows if read_facts(row).get("statuses")]
    templates = [_describe_template(row, is_other=row != operation) for row in rows]
    return sorted(templates, key=lambda template: (-template.observations, template.path))


def list_rules_leading_to(operation: Operation) -> Sequence[TemplateRule]:
    """Return the active rules that show other templates under this operation, or name its parameters."""
    rules = active_template_rules(operation.environment).order_by("-id")
    return [rule for rule in rules if rule.method in ("", operation.method) and rule.key == operation.key]


def find_former_template(operation: Operation, path: str) -> str:
    """Return the template in the page's address if it is not the operation's own; else "".

    The observations of this other template are shown under the operation now.
    """
    return path if strip_names(path) != operation.key else ""


def _describe_template(row: Operation, *, is_other: bool) -> ReportedTemplate:
    facts = read_facts(row)
    names = choose_names([Counter(counts) for counts in facts["names"]])
    return ReportedTemplate(fill_names(row.key, names), sum(facts["statuses"].values()), is_other)
