"""Delete what workspaces no longer keep: whole months of a log, and the rest in small batches.

Each month and each batch is a transaction of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from hub.retention.data_kinds import KINDS, Kind, RowSource
from wire.postgresql.monthly_partitions import Month, MonthlyLog, drop_month, list_months
from wire.task_turns import UNLIMITED, Turn
from workspaces.models import Environment, RetentionPolicy, Workspace

BATCH = 1000


def prune_all(*, now: datetime, batch: int = BATCH, turn: Turn = UNLIMITED) -> Mapping[str, int]:
    """Prune every workspace; return the number of deleted rows by kind.

    Once the turn is over, delete only one batch from each table of a workspace.
    """
    row_counts: Counter[str] = Counter({kind.name: 0 for kind in KINDS})
    row_counts.update(drop_months(now=now))
    for workspace in Workspace.objects.filter(removed_at=None):
        row_counts.update(prune_workspace(workspace, now=now, batch=batch, turn=turn))
    return row_counts


def drop_months(*, now: datetime) -> Mapping[str, int]:
    """Drop the monthly partitions from which no workspace keeps anything; return the number of deleted rows by kind."""
    row_counts: Counter[str] = Counter()
    for kind in KINDS:
        for source in kind.sources:
            if source.log:
                row_counts[kind.name] += _drop_months_of_log(kind, source.log, now=now)
    return row_counts


def _drop_months_of_log(kind: Kind, log: MonthlyLog, *, now: datetime) -> int:
    row_count = 0
    for month in list_months(log):
        if month.end <= now:
            owners = _list_expired_owners(kind, log, month, now=now)
            row_count += drop_month(log, month, owners) or 0
    return row_count


def _list_expired_owners(kind: Kind, log: MonthlyLog, month: Month, *, now: datetime) -> Sequence[int | str]:
    """Return the workspaces that no longer keep anything of a month, or their environments."""
    policies = {policy.workspace_id: policy for policy in RetentionPolicy.objects.all()}
    active = Workspace.objects.filter(removed_at=None).values_list("pk", flat=True)
    days_by_workspace = {pk: kind.days(policies.get(pk)) for pk in active}
    workspace_ids = [pk for pk, days in days_by_workspace.items() if days and month.end <= now - timedelta(days=days)]
    if log.owner == "workspace_id":
        return workspace_ids
    return list(Environment.objects.filter(workspace__in=workspace_ids).values_list("pk", flat=True))


def prune_workspace(
    workspace: Workspace, *, now: datetime, batch: int = BATCH, turn: Turn = UNLIMITED
) -> Mapping[str, int]:
    """Delete what this workspace no longer keeps; return the number of deleted rows by kind."""
    policy = RetentionPolicy.objects.filter(workspace=workspace).first()
    row_counts: dict[str, int] = {}
    for kind in KINDS:
        days = kind.days(policy)
        if days is not None:
            row_counts[kind.name] = sum(
                _delete_all(source, workspace, source.find_end(days, now=now), batch, turn) for source in kind.sources
            )
    return row_counts


def _delete_all(source: RowSource, workspace: Workspace, before: datetime, batch: int, turn: Turn) -> int:
    return turn.repeat(lambda: source.delete_batch(workspace, before, batch))
