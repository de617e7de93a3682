"""The drift, the versions and the decisions of the sample's history are dated when they happened."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from catalog.models import Drift, Operation, OperationVersion
from hub.sample.history import History
from hub.sample.history_days import HISTORY_DAYS
from intents.models import Confirmation
from tests.hub.sample.dates import find_wednesday_noon
from workspaces.create import create_workspace
from workspaces.models import AuditEntry

pytestmark = pytest.mark.django_db

MAX_DAYS = 8  # the most days to play until there is drift: some days have none


def test_a_day_of_the_history_is_stored_at_its_own_time():
    end = find_wednesday_noon()
    created = create_workspace("Sample", ["staging"], actor="test", now=end, with_full_key=True)
    history = History(created.as_json(), end.timestamp())
    start = end - timedelta(days=HISTORY_DAYS)
    drift = Drift.objects.filter(environment__workspace=created.workspace)
    day_ends: list[datetime] = []
    while len(day_ends) < MAX_DAYS and not drift.exists():
        history.play_day(len(day_ends))
        day_ends.append(start + timedelta(days=len(day_ends) + 1))
    versions = OperationVersion.objects.filter(environment__workspace=created.workspace)
    assert {version.at for version in versions} <= set(day_ends)
    assert all(version.at - timedelta(days=2) <= version.since <= version.at for version in versions)
    assert drift.all()
    assert {change.at for change in drift} <= set(day_ends[1:])  # the first day has no drift
    assert all(change.since <= change.at for change in drift)
    operations = Operation.objects.filter(environment__workspace=created.workspace)
    assert max(operation.last_seen_at for operation in operations) <= day_ends[-1]
    decided = Confirmation.objects.filter(environment__workspace=created.workspace, decided_at__isnull=False)
    entries = AuditEntry.objects.filter(workspace_id=created.workspace.pk, action__startswith="confirmation ")
    assert decided, "the audit log has each decision, at its own time"
    assert sorted(entries.values_list("at", "actor")) == sorted(decided.values_list("decided_at", "decided_by"))
