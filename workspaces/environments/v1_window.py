"""The dual-accept window: until when version 1 intents pass (contract §3, "Versions")."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from wire.errors import InvalidRequest
from wire.time.timestamps import EARLIEST, LATEST
from workspaces.audit.record import record_audit
from workspaces.models import Workspace


@transaction.atomic
def set_v1_end(workspace: Workspace, end: datetime | None, *, actor: str, now: datetime) -> None:
    """Close the window at a moment, which may have passed; None opens it without end. The same again changes nothing.

    Raises InvalidRequest for a moment that not every time zone can show.
    """
    if end is not None and not EARLIEST <= end <= LATEST:
        raise InvalidRequest(f"Choose a time between the years {EARLIEST.year} and {LATEST.year}, or no end.")
    is_changed = Workspace.objects.filter(pk=workspace.pk).exclude(v1_until=end).update(v1_until=end)
    workspace.v1_until = end
    if not is_changed:
        return
    facts = {"v1Until": None if end is None else end.isoformat()}
    record_audit(workspace.pk, "version 1 window set", facts, actor=actor, now=now)
