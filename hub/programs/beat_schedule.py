"""The periodic tasks that beat sends, and when."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import time
from typing import Any

from celery.schedules import crontab

PARTITIONS_PREPARED_AT = time(3, 0)  # UTC, as is the other
PRUNED_AT = time(3, 30)  # the page of retention and docs/operating.md say so

BEAT_SCHEDULE: Mapping[str, Mapping[str, Any]] = {
    "evaluate alerts": {"task": "alerts.tasks.evaluate", "schedule": 60.0},
    "prune kept answers": {"task": "wire.tasks.prune", "schedule": 600.0},
    "prune token buckets": {"task": "workspaces.tasks.prune_token_buckets", "schedule": 600.0},
    "prune sessions, links and invitations": {"task": "workspaces.tasks.prune_people", "schedule": 3600.0},
    "forget what expired confirmations show": {"task": "intents.tasks.forget", "schedule": 600.0},
    "prepare partitions": {
        "task": "hub.retention.tasks.prepare_partitions",
        "schedule": crontab(hour=str(PARTITIONS_PREPARED_AT.hour), minute=str(PARTITIONS_PREPARED_AT.minute)),
    },
    "prune what workspaces no longer keep": {
        "task": "hub.retention.tasks.prune",
        "schedule": crontab(hour=str(PRUNED_AT.hour), minute=str(PRUNED_AT.minute)),
    },
}
