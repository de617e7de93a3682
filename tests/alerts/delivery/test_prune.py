"""Events are deleted with their deliveries, except those with a waiting delivery."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from alerts.delivery.prune import delete_expired_events, find_expired_events
from alerts.models import Delivery, Event
from tests.alerts.alerts import queue_tests

NOW = timezone.now()
DAY = timedelta(days=1)
pytestmark = pytest.mark.django_db


def test_events_are_pruned_with_their_deliveries_unless_a_delivery_is_pending(
    workspace, other_workspace, target, receiver
):
    queue_tests(workspace, target, 3, now=NOW - 10 * DAY)
    waiting = Delivery.objects.order_by("queued_at").last()
    Delivery.objects.exclude(pk=waiting.pk).update(state="dead")
    assert delete_expired_events(other_workspace.workspace, NOW, 10) == 0
    assert find_expired_events(workspace.workspace, NOW - DAY).count() == 2
    assert delete_expired_events(workspace.workspace, NOW - DAY, 1) == 1
    assert delete_expired_events(workspace.workspace, NOW - DAY, 10) == 1
    assert list(Delivery.objects.all()) == [waiting]
    assert Event.objects.count() == 1
