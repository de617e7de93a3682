"""Threads of the worker deliver alerts, one target each, until the worker stops."""

from __future__ import annotations

import threading
from datetime import datetime

import pytest
from django.db import OperationalError
from django.utils import timezone

from alerts.models import Delivery
from hub.programs import alert_sender
from hub.programs.alert_sender import Sender
from tests.alerts.alerts import make_target, queue_tests, read_ids

NOW = timezone.now()


@pytest.mark.django_db(transaction=True)
def test_the_worker_s_threads_deliver(workspace, receiver):
    targets = [make_target(workspace, receiver.url, name=f"ops {number}")[0] for number in range(6)]
    for target in targets:
        queue_tests(workspace, target, now=NOW)
    sender = Sender()
    for _ in range(100):
        sender.send_due()
        if not Delivery.objects.filter(state="waiting").exists():
            break
        threading.Event().wait(0.1)
    assert len(receiver.requests) == 6
    sender._pool.shutdown()


@pytest.mark.django_db(transaction=True)
def test_a_target_gets_many_deliveries_without_a_pause_between_them(workspace, receiver):
    """A release can break a hundred operations at once."""
    target, _ = make_target(workspace, receiver.url)
    expected = [str(delivery.message_id) for delivery in queue_tests(workspace, target, 5, now=NOW)]
    sender = Sender()
    assert sender.send_due() == 1
    sender._pool.shutdown()
    assert read_ids(receiver) == expected


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_stops_ends_the_delivery_that_has_begun_and_leaves_the_others(workspace, receiver):
    target, _ = make_target(workspace, receiver.url)
    first, *_ = queue_tests(workspace, target, 5, now=NOW)
    sender = Sender()
    sender.stop()
    assert sender.send_due() == 1
    sender._pool.shutdown()
    assert read_ids(receiver) == [str(first.message_id)]


@pytest.mark.django_db(transaction=True)
def test_the_sender_goes_on_after_the_database_was_away(workspace, receiver, monkeypatch):
    target, _ = make_target(workspace, receiver.url)
    queue_tests(workspace, target, now=NOW)
    sender = Sender()

    def fail(*, now: datetime) -> None:
        raise OperationalError

    with monkeypatch.context() as outage:
        outage.setattr(alert_sender, "claim_target", fail)
        for _ in range(alert_sender.THREADS):
            with pytest.raises(OperationalError):
                sender.send_due()
    assert sender.send_due() == 1
    sender._pool.shutdown()
    assert len(receiver.requests) == 1
