"""The page of rules: every manual override of an environment, when it was made, by whom, and how to undo it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from catalog.models import BaselineReset, MapRule, RedactionRule, TemplateRule
from catalog.operation_queries import visible_operations
from catalog.rules import redaction_rules
from catalog.rules.hint_rules import list_hint_rules
from wire.table_exports import Table
from wire.time.period import Period
from workspaces.access import has_role
from workspaces.models import Environment, Membership
from workspaces.pages.page import Page

MAX_SHOWN = 100  # of each kind
DECISION_COLUMNS = ("at", "by", "undoneAt")


@dataclass(frozen=True)
class RuleKind:
    """One kind of rule: how its rules are listed, the latest first, and the cells of each in a table.

    name: its name as a table, and in the address that undoes a rule.
    template: its section of the page.
    has_form: whether its rules are made on the page itself.
    """

    name: str
    template: str
    list_rules: Callable[[Environment], QuerySet[Any]]
    columns: Sequence[str]
    build_cells: Callable[[Any], Sequence[Any]]
    has_form: bool = False


def list_template_rules(environment: Environment) -> QuerySet[TemplateRule]:
    return TemplateRule.objects.filter(environment=environment)


def list_baseline_resets(environment: Environment) -> QuerySet[BaselineReset]:
    """Return the resets that people made, without the resets in other operations that followed from them."""
    resets = BaselineReset.objects.filter(environment=environment, through=None)
    return resets.select_related("operation").order_by("-id")


def list_map_rules(environment: Environment) -> QuerySet[MapRule]:
    return MapRule.objects.filter(environment=environment).select_related("operation").order_by("-id")


def build_template_cells(rule: TemplateRule) -> Sequence[Any]:
    return (rule.method or None, rule.source, rule.target, rule.matching)


def build_baseline_cells(reset: BaselineReset) -> Sequence[Any]:
    return (reset.operation.method, reset.operation.path, reset.part or None, reset.pointer)


def build_map_cells(rule: MapRule) -> Sequence[Any]:
    return (rule.operation.method, rule.operation.path, rule.part, rule.pointer, rule.as_map)


def build_hint_cells(rule: Any) -> Sequence[Any]:
    """Return the cells of a rule of list_hint_rules, which has a path."""
    return (rule.method, rule.path, rule.hint, rule.value)


def build_redaction_cells(rule: RedactionRule) -> Sequence[Any]:
    return (rule.environment.name if rule.environment else None, rule.kind, rule.name)


RULE_KINDS = (
    RuleKind(
        "template-rules",
        "catalog/_partials/rules/template_rules.html",
        list_template_rules,
        ("method", "source", "target", "matching"),
        build_template_cells,
    ),
    RuleKind(
        "fresh-starts",
        "catalog/_partials/rules/baseline_resets.html",
        list_baseline_resets,
        ("method", "path", "part", "pointer"),
        build_baseline_cells,
    ),
    RuleKind(
        "map-rules",
        "catalog/_partials/rules/map_rules.html",
        list_map_rules,
        ("method", "path", "part", "pointer", "asMap"),
        build_map_cells,
    ),
    RuleKind(
        "hint-rules",
        "catalog/_partials/rules/hint_rules.html",
        list_hint_rules,
        ("method", "path", "hint", "value"),
        build_hint_cells,
    ),
    RuleKind(
        "redaction-rules",
        "catalog/_partials/rules/redaction_rules.html",
        redaction_rules.list_redaction_rules,
        ("environment", "kind", "name"),
        build_redaction_cells,
        has_form=True,
    ),
)


def show_rules(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show all rules, whatever the period: a rule that is in force may have been made long ago."""

    def build_context() -> Mapping[str, Any]:
        fault = request.GET.get("fault", "")
        sections = [build_section(kind, environment) for kind in RULE_KINDS]
        return {
            "sections": [section for section in sections if not section["is_grouped"]],
            "empty_sections": [section for section in sections if section["is_grouped"]],
            "example_operation": visible_operations(environment).order_by("path", "method").first(),
            "may_act": has_role(request.user, environment.workspace, Membership.EDITOR),
            "fault": redaction_rules.REDACTION_RULE_ERRORS.get(fault),
            "has_circle": fault == "circle",
            "form": {name: request.GET.get(name, "") for name in ("kind", "name", "everywhere")},
            "max_name": redaction_rules.MAX_NAME,
        }

    return Page(
        "catalog/rules.html", build_context, [export_rules(kind, environment) for kind in RULE_KINDS], has_period=False
    )


def build_section(kind: RuleKind, environment: Environment) -> Mapping[str, Any]:
    """Return the rules of one kind, those in force apart from those that were undone.

    is_grouped: whether it shares a card with others that have nothing to show.
    """
    rules = kind.list_rules(environment)
    in_force, undone = rules.filter(undone_at=None), rules.exclude(undone_at=None)
    counts = {"active": in_force.count(), "undone": undone.count()}
    groups = [
        {"rules": in_force[:MAX_SHOWN], "total": counts["active"], "is_undone": False},
        {"rules": undone[:MAX_SHOWN], "total": counts["undone"], "is_undone": True},
    ]
    return {
        "kind": kind,
        **counts,
        "groups": [group for group in groups if group["total"]],
        "total": sum(counts.values()),
        "is_grouped": not any(counts.values()) and not kind.has_form,
    }


def export_rules(kind: RuleKind, environment: Environment) -> Table:
    def iterate_rows() -> Iterator[Sequence[Any]]:
        for rule in kind.list_rules(environment).iterator():
            yield (*kind.build_cells(rule), rule.at, rule.actor, rule.undone_at)

    return Table(kind.name, (*kind.columns, *DECISION_COLUMNS), iterate_rows)
