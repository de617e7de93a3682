"""Delete what workspaces no longer keep, in small batches, each in a transaction of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta

from hub.retention.kinds import KINDS, RowSource
from wire.turns import UNLIMITED, Turn
from workspaces.models import RetentionPolicy, Workspace

BATCH = 1000


def prune_all(*, now: datetime, batch: int = BATCH, turn: Turn = UNLIMITED) -> Mapping[str, int]:
    """Prune every workspace; return how many rows went, by kind. After the turn, one batch of each is deleted."""
    deleted: Counter[str] = Counter({kind.name: 0 for kind in KINDS})
    for workspace in Workspace.objects.filter(removed_at=None):
        deleted.update(prune_workspace(workspace, now=now, batch=batch, turn=turn))
    return deleted


def prune_workspace(
    workspace: Workspace, *, now: datetime, batch: int = BATCH, turn: Turn = UNLIMITED
) -> Mapping[str, int]:
    """Delete what this workspace no longer keeps; return how many rows went, by kind."""
    policy = RetentionPolicy.objects.filter(workspace=workspace).first()
    deleted: dict[str, int] = {}
    for kind in KINDS:
        days = kind.days(policy)
        if days is not None:
            before = now - timedelta(days=days)
            deleted[kind.name] = sum(_delete_all(source, workspace, before, batch, turn) for source in kind.sources)
    return deleted


def _delete_all(source: RowSource, workspace: Workspace, before: datetime, batch: int, turn: Turn) -> int:
    return turn.repeat(lambda: source.delete(workspace, before, batch))
