"""The page of the audit log: who did what, when and from where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest

from wire.filters import read_text
from wire.period import Period
from wire.table_exports import Table
from workspaces.models import AuditEntry, Environment
from workspaces.page import Page

COLUMNS = ("at", "actor", "action", "address", "facts")
ROWS_PER_PAGE = 50


def show_audit(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the entries of the workspace in a period, the latest first."""
    actor, action = read_text(request.GET, "actor"), read_text(request.GET, "action")
    all_entries = AuditEntry.objects.filter(workspace_id=environment.workspace_id)
    entries = all_entries.filter(at__gte=period.start, at__lt=period.end)
    if actor:
        entries = entries.filter(actor=actor)
    if action:
        entries = entries.filter(action=action)

    def build_context() -> Mapping[str, Any]:
        return {
            "entries": Paginator(entries, ROWS_PER_PAGE).get_page(request.GET.get("page")),
            "actor": actor,
            "action": action,
            "actors": _list_values(all_entries, "actor"),
            "actions": _list_values(all_entries, "action"),
        }

    return Page("workspaces/audit.html", build_context, [Table("audit", COLUMNS, lambda: _export_rows(entries))])


def _list_values(entries: QuerySet[AuditEntry], column: str) -> list[str]:
    return list(entries.order_by(column).values_list(column, flat=True).distinct())


def _export_rows(entries: QuerySet[AuditEntry]) -> Iterator[Sequence[Any]]:
    for entry in entries.iterator():
        yield (entry.at, entry.actor, entry.action, entry.address, entry.facts)
