"""Remove a workspace with everything that belongs to it, in every app."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import connection, models, transaction

from wire.models import IdempotentAnswer
from workspaces.models import AuditEntry, Environment, Workspace

OWNERS = (Workspace, Environment)
log = logging.getLogger("affidavit.workspaces")


def remove_workspace(workspace: Workspace, *, actor: str, now: datetime) -> int:
    """Delete the workspace for good and return the number of deleted rows. Its keys are refused from the start on.

    It is one statement per table, which is ten times faster than Django's cascade, object by object.
    """
    workspace.api_keys.filter(revoked_at=None).update(revoked_at=now)
    with transaction.atomic():
        # Wait for transactions that still write into an environment and so hold a lock on it; none gets a new lock.
        list(workspace.environments.order_by("id").select_for_update())
        deleted = IdempotentAnswer.objects.filter(workspace_id=workspace.pk).delete()[0]
        deleted += AuditEntry.objects.filter(workspace_id=workspace.pk).delete()[0]
        with connection.cursor() as cursor:
            for statement in _delete_statements(Workspace, f"{_quote(Workspace._meta.pk.column)} = %s"):
                cursor.execute(statement, [workspace.pk])
                deleted += cursor.rowcount
    # The workspace's own audit log is deleted with it.
    log.warning("workspace %s was removed by %s with %d rows", workspace.slug, actor, deleted)
    return deleted


def _delete_statements(model: type[models.Model], condition: str) -> Iterator[str]:
    """Yield the DELETEs of a model's rows, after those of all rows that refer to them. condition: in SQL."""
    table = _quote(model._meta.db_table)
    for foreign_key in _list_cascading_keys(model):
        # Rows with an owner of their own are found by that owner, through an index; only the rest by their parent.
        if model in OWNERS or not _has_owner(foreign_key.model):
            parents = f"SELECT {_quote(model._meta.pk.column)} FROM {table} WHERE {condition}"
            yield from _delete_statements(foreign_key.model, f"{_quote(foreign_key.column)} IN ({parents})")
    yield f"DELETE FROM {table} WHERE {condition}"


def _list_cascading_keys(model: type[models.Model]) -> list[models.ForeignKey[Any, Any]]:
    """Return the foreign keys of all apps whose rows are deleted with those of this model."""
    fields = model._meta.get_fields(include_hidden=True)
    keys = [relation.field for relation in fields if isinstance(relation, models.ForeignObjectRel)]
    return [key for key in keys if isinstance(key, models.ForeignKey) and key.remote_field.on_delete is models.CASCADE]


def _has_owner(model: type[models.Model]) -> bool:
    return any(field.related_model in OWNERS for field in model._meta.concrete_fields if field.is_relation)


def _quote(name: str | None) -> str:
    return connection.ops.quote_name(str(name))
