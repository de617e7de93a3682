"""The page of everything that was decided by hand in an environment: when, by whom, and how to take it back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from catalog.models import BaselineReset, Decision, MapRule, RedactionRule, TemplateRule
from catalog.rules import redaction as redaction_rules
from wire.period import Period
from wire.tables import Table
from workspaces.access import list_workspaces
from workspaces.models import Environment
from workspaces.page import Page

SHOWN = 100  # of each kind
WHEN = ("at", "by", "takenBackAt")


@dataclass(frozen=True)
class Kind:
    """What is decided by hand in one way: its rows, the latest first, and what a table tells of each.

    name: of its table and in the address that takes one back. Its part of the page is `rules/<name>.html`.
    """

    name: str
    rows: Callable[[Environment], QuerySet[Any]]
    columns: Sequence[str]
    cells: Callable[[Any], Sequence[Any]]

    @property
    def template(self) -> str:
        return f"catalog/_partials/rules/{self.name}.html"


def template_rules(environment: Environment) -> QuerySet[TemplateRule]:
    return TemplateRule.objects.filter(environment=environment)


def fresh_starts(environment: Environment) -> QuerySet[BaselineReset]:
    """One for each decision, however many operations are shown together there."""
    found = BaselineReset.objects.filter(operation__environment=environment, through=None)
    return found.select_related("operation").order_by("-id")


def map_rules(environment: Environment) -> QuerySet[MapRule]:
    return MapRule.objects.filter(operation__environment=environment).select_related("operation").order_by("-id")


def of_template(rule: TemplateRule) -> Sequence[Any]:
    return (rule.method or None, rule.source, rule.target, rule.matching)


def of_fresh_start(start: BaselineReset) -> Sequence[Any]:
    return (start.operation.method, start.operation.path, start.part or None, start.pointer)


def of_map(rule: MapRule) -> Sequence[Any]:
    return (rule.operation.method, rule.operation.path, rule.part, rule.pointer, rule.as_map)


def of_redaction(rule: RedactionRule) -> Sequence[Any]:
    return (rule.environment.name if rule.environment else None, rule.kind, rule.name)


KINDS = (
    Kind("template-rules", template_rules, ("method", "source", "target", "matching"), of_template),
    Kind("fresh-starts", fresh_starts, ("method", "path", "part", "pointer"), of_fresh_start),
    Kind("map-rules", map_rules, ("method", "path", "part", "pointer", "asMap"), of_map),
    Kind("redaction-rules", redaction_rules.list_redaction_rules, ("environment", "kind", "name"), of_redaction),
)


def rules(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Whatever the range: what holds now may have been decided long ago."""

    def context() -> Mapping[str, Any]:
        return {
            "sections": [section(kind, environment) for kind in KINDS],
            "may_act": list_workspaces(request.user).filter(pk=environment.workspace_id).exists(),
            "fault": redaction_rules.REDACTION_RULE_ERRORS.get(request.GET.get("fault", "")),
            "refused": request.GET.get("fault") == "circle",
            "given": {name: request.GET.get(name, "") for name in ("kind", "name", "everywhere")},
            "max_name": redaction_rules.MAX_NAME,
        }

    return Page("catalog/rules.html", context, [table(kind, environment) for kind in KINDS])


def section(kind: Kind, environment: Environment) -> Mapping[str, Any]:
    found = kind.rows(environment)
    return {"kind": kind, "rows": found[:SHOWN], "in_all": found.count(), "holding": holding(found).count()}


def holding(found: QuerySet[Any]) -> QuerySet[Any]:
    return found.filter(reverted_at=None)


def table(kind: Kind, environment: Environment) -> Table:
    def rows() -> Any:
        return ((*kind.cells(row), *when(row)) for row in kind.rows(environment).iterator())

    return Table(kind.name, (*kind.columns, *WHEN), rows)


def when(row: Decision) -> tuple[datetime, str, datetime | None]:
    return row.at, row.actor, row.reverted_at
