"""Which templates as reported are behind one operation that is shown, and the rules by hand that put them there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from affidavit.operations import choose_names, fill_names, strip_names
from catalog.evidence.sums import facts_of_row
from catalog.models import Operation, TemplateRule
from catalog.rules.queries import active_template_rules
from catalog.rules.templates import TEMPLATE_RULE_ERRORS


@dataclass(frozen=True)
class Reported:
    """A template as it was reported, how often, and whether it is another one than the operation's own."""

    path: str
    observations: int
    is_other: bool


def reported(operation: Operation) -> list[Reported]:
    """All whose sum is shown, the most frequent first; [] where no rule has a hand in it."""
    if operation.reported_facts is None:
        return []
    found = [one_reported(row, operation) for row in operation.merged_rows if facts_of_row(row).get("statuses")]
    return sorted(found, key=lambda one: (-one.observations, one.path))


def one_reported(row: Operation, place: Operation) -> Reported:
    facts = facts_of_row(row)
    names = choose_names([Counter(counts) for counts in facts["names"]])
    return Reported(fill_names(row.key, names), sum(facts["statuses"].values()), row != place)


def rules_leading_to(operation: Operation) -> Sequence[TemplateRule]:
    """The rules that stand and that show something under this operation, or name its parameters."""
    standing = active_template_rules(operation.environment).order_by("-id")
    return [rule for rule in standing if leads_to(rule, operation)]


def leads_to(rule: TemplateRule, operation: Operation) -> bool:
    return rule.method in ("", operation.method) and rule.key == operation.key


def build_template_context(operation: Operation, address: Mapping[str, str]) -> Mapping[str, Any]:
    """For the operation's page: what is behind its template, and the form as it was sent where that had a fault."""
    fault = TEMPLATE_RULE_ERRORS.get(address.get("fault", ""))
    return {
        "reported": reported(operation),
        "rules": rules_leading_to(operation),
        "fault": fault,
        "target": (fault and address.get("target")) or operation.path,
        "only": bool(fault and address.get("only")),
        "matching": bool(fault and address.get("matching")),
        "came_from": came_from(operation, address.get("path", "")),
    }


def came_from(operation: Operation, path: str) -> str:
    """The template that an address names, where what it stood for is shown here now; else ""."""
    return path if strip_names(path) != operation.key else ""
