"""Remove a workspace with all of its rows in every app: it is hidden at once, and the worker deletes it."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db import connection, models, transaction

from wire.models import IdempotentAnswer
from workspaces.audit.record import record_audit
from workspaces.models import ApiKey, AuditEntry, Environment, Workspace

OWNERS = (Workspace, Environment)
REQUESTED, DELETED = "workspace deletion requested", "workspace deleted"
ID_PREFIX_LENGTH = 8  # characters of a deleted workspace's id that the hub's audit log keeps
log = logging.getLogger("affidavit.workspaces")


def hide_workspace(workspace: Workspace, *, actor: str, now: datetime) -> None:
    """Refuse the keys and pages of a workspace from now on; its rows are deleted by `delete_hidden_workspace`."""
    with transaction.atomic():
        if not Workspace.objects.filter(pk=workspace.pk, removed_at=None).update(removed_at=now):
            return
        ApiKey.objects.filter(workspace_id=workspace.pk, revoked_at=None).update(revoked_at=now)
        record_audit(workspace.pk, REQUESTED, actor=actor, now=now)


@transaction.atomic
def delete_hidden_workspace(workspace_id: str, *, now: datetime) -> Mapping[str, int]:
    """Delete all rows of a hidden workspace. Return how many, by table; {} if it is deleted already.

    It runs a few statements per table; Django's cascade, object by object, takes ten times as long. The hub's audit
    log records the numbers. Everything is one transaction, so a killed deletion can be run again.
    """
    # Wait for transactions that still write into an environment, and so hold a lock on it. Meanwhile, no other
    # transaction gets one.
    list(Environment.objects.filter(workspace_id=workspace_id).order_by("id").select_for_update())
    hidden_workspace = Workspace.objects.select_for_update().filter(pk=workspace_id, removed_at__isnull=False)
    if not hidden_workspace.exists():
        return {}
    request = AuditEntry.objects.filter(workspace_id=workspace_id, action=REQUESTED).first()
    row_counts: Counter[str] = Counter()
    for model in (IdempotentAnswer, AuditEntry):  # these have no foreign key to the workspace
        rows: models.QuerySet[Any] = model._default_manager.filter(workspace_id=workspace_id)
        row_counts[model._meta.db_table] = rows.delete()[0]
    with connection.cursor() as cursor:
        for table, statement in _delete_statements(Workspace, f"{_quote(Workspace._meta.pk.column)} = %s"):
            cursor.execute(statement, [workspace_id])
            row_counts[table] += cursor.rowcount
    counts = {table: count for table, count in row_counts.items() if count}
    facts = {"workspace": shorten_id(workspace_id), "rows": counts}
    actor = request.actor if request else "worker"
    record_audit(None, DELETED, facts, actor=actor, now=now)
    log.warning("workspace %s was deleted by %s with %d rows", facts["workspace"], actor, sum(counts.values()))
    return counts


def remove_workspace(workspace: Workspace, *, actor: str, now: datetime) -> Mapping[str, int]:
    """Hide a workspace and delete it; return the number of deleted rows by table, whoever deleted them."""
    hide_workspace(workspace, actor=actor, now=now)
    return delete_hidden_workspace(workspace.pk, now=now) or find_deletion_counts(workspace.pk)


def find_deletion_counts(workspace_id: str) -> Mapping[str, int]:
    """Return how many rows of a deleted workspace were deleted, by table; {} if the audit log has no such deletion."""
    entries = AuditEntry.objects.filter(workspace_id="", action=DELETED, facts__workspace=shorten_id(workspace_id))
    entry = entries.first()
    rows: Mapping[str, int] = entry.facts["rows"] if entry else {}
    return rows


def list_hidden_workspaces() -> list[str]:
    """Return the ids of workspaces whose rows are still to be deleted."""
    return list(Workspace.objects.exclude(removed_at=None).order_by("removed_at").values_list("pk", flat=True))


def shorten_id(workspace_id: str) -> str:
    return f"{workspace_id[:ID_PREFIX_LENGTH]}…"


def _delete_statements(model: type[models.Model], condition: str) -> Iterator[tuple[str, str]]:
    """Yield each table with its DELETE statement. Tables whose rows refer to the model's rows come first.

    condition: the condition on the model's rows, in SQL.
    """
    table = _quote(model._meta.db_table)
    for foreign_key in _list_cascading_keys(model):
        # Rows with an owner column are found by their owner, through an index; only the others by their parent.
        if model in OWNERS or not _has_owner(foreign_key.model):
            parents = f"SELECT {_quote(model._meta.pk.column)} FROM {table} WHERE {condition}"
            yield from _delete_statements(foreign_key.model, f"{_quote(foreign_key.column)} IN ({parents})")
    yield model._meta.db_table, f"DELETE FROM {table} WHERE {condition}"


def _list_cascading_keys(model: type[models.Model]) -> list[models.ForeignKey[Any, Any]]:
    """Return the foreign keys of all apps whose rows are deleted with those of this model."""
    fields = model._meta.get_fields(include_hidden=True)
    keys = [relation.field for relation in fields if isinstance(relation, models.ForeignObjectRel)]
    return [key for key in keys if isinstance(key, models.ForeignKey) and key.remote_field.on_delete is models.CASCADE]


def _has_owner(model: type[models.Model]) -> bool:
    return any(field.related_model in OWNERS for field in model._meta.concrete_fields if field.is_relation)


def _quote(name: str | None) -> str:
    return connection.ops.quote_name(str(name))
