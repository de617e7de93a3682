"""The page of the audit log: who did what, when and from where."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Min, QuerySet
from django.http import HttpRequest

from wire.address_members import read_text
from wire.table_exports import Table
from wire.time.period import Period
from workspaces.audit.action_kinds import CHANGES, EVERYTHING, KIND_LABELS, describe_hidden, select_kind
from workspaces.audit.describe import Fact, describe_action, describe_facts
from workspaces.models import AuditEntry, Environment
from workspaces.pages.page import Page

COLUMNS = ("at", "actor", "action", "address", "facts")
ROWS_PER_PAGE = 50


@dataclass(frozen=True)
class AuditRow:
    """An entry as the page shows it.

    environment, method, path: those of the operation that the entry is about, if it can have a page.
    change: the number of the drift change that the entry is about, if any.
    """

    entry: AuditEntry
    action: str
    facts: Sequence[Fact]
    environment: str = ""
    method: str = ""
    path: str = ""
    change: int | None = None


def show_audit(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the entries of the workspace in a period, the latest first: by default changes, and what people decided."""
    actor, action = read_text(request.GET, "actor"), read_text(request.GET, "action")
    kind = read_text(request.GET, "kind")
    kind = chosen_kind = kind if kind in KIND_LABELS else CHANGES
    all_entries = AuditEntry.objects.filter(workspace_id=environment.workspace_id)
    entries = all_entries.filter(at__gte=period.start, at__lt=period.end)
    if action and kind == CHANGES:
        kind = EVERYTHING
    if actor:
        entries = entries.filter(actor=actor)
    if action:
        entries = entries.filter(action=action)
    entries_of_all_kinds = entries
    entries = entries.filter(select_kind(kind))

    def build_context() -> Mapping[str, Any]:
        entry_page = Paginator(entries, ROWS_PER_PAGE).get_page(request.GET.get("page"))
        hidden_entries = entries_of_all_kinds.exclude(select_kind(kind)) if kind != EVERYTHING else all_entries.none()
        keys_by_actor = environment.workspace.index_keys_by_actor()
        environment_names = set(environment.workspace.environments.values_list("name", flat=True))
        return {
            "entries": entry_page,
            "rows": [_build_audit_row(entry, environment_names) for entry in entry_page],
            "first_at": all_entries.aggregate(first=Min("at"))["first"],
            "total": 0 if entry_page else all_entries.filter(select_kind(chosen_kind)).count(),
            "hidden_count": hidden_entries.count(),
            "hidden_words": describe_hidden(hidden_entries) if kind == CHANGES else "",
            "kind": kind,
            "kinds": KIND_LABELS.items(),
            "actor": actor,
            "action": action,
            "actors": _list_values(all_entries, "actor", actor),
            "actions": [(name, describe_action(name)) for name in _list_values(all_entries, "action", action)],
            "keys_by_actor": keys_by_actor,
            "keys_by_prefix": {key.prefix: key for key in keys_by_actor.values()},
            "may_open_keys": True,  # whoever may open this page is an admin
        }

    tables = [Table("audit", COLUMNS, lambda: _export_rows(entries))]
    return Page("workspaces/audit.html", build_context, tables, takes={"kind": KIND_LABELS.__contains__})


def _build_audit_row(entry: AuditEntry, environment_names: Collection[str]) -> AuditRow:
    row = AuditRow(entry, describe_action(entry.action), describe_facts(entry.facts))
    environment_name, operation = entry.facts.get("environment"), entry.facts.get("operation")
    if not (isinstance(operation, str) and isinstance(environment_name, str) and environment_name in environment_names):
        return row
    method, _, path = operation.partition(" ")
    return replace(row, environment=environment_name, method=method, path=path, change=entry.facts.get("changeId"))


def _list_values(entries: QuerySet[AuditEntry], column: str, chosen: str) -> list[str]:
    """Return the values among which the page lets choose: those of the entries, and the chosen one."""
    return sorted({*entries.order_by(column).values_list(column, flat=True).distinct(), *([chosen] if chosen else [])})


def _export_rows(entries: QuerySet[AuditEntry]) -> Iterator[Sequence[Any]]:
    for entry in entries.iterator():
        yield (entry.at, entry.actor, entry.action, entry.address, entry.facts)
