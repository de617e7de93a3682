"""Deliveries arrive at least once and in order per target; after 24 hours of retries they are dead letters."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from alerts.delivery import deliver as delivering
from alerts.delivery.deliver import LEASE, claim_target, deliver
from alerts.delivery.queue import HELD_BACK
from alerts.delivery.retries import PAUSES, RETRIED_FOR, find_next_attempt
from alerts.models import Delivery, Target
from alerts.setup.alerts import pause_every_alert
from alerts.setup.send_again import send_again
from alerts.setup.targets import delete_target
from tests.alerts.alerts import deliver_due, make_alert, make_target, queue_tests, read_ids
from workspaces.models import AuditEntry

NOW = timezone.now()
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
pytestmark = pytest.mark.django_db


def test_deliveries_arrive_in_order_and_a_failed_delivery_holds_back_later_ones(workspace, target, receiver):
    first, second, third = (str(delivery.message_id) for delivery in queue_tests(workspace, target, 3, now=NOW))
    receiver.codes = [204, 500]
    now = NOW + timedelta(seconds=1)
    assert deliver_due(now=now) == 2
    assert read_ids(receiver) == [first, second]
    assert deliver_due(now=now + timedelta(seconds=2)) == 0
    assert deliver_due(now=now + timedelta(seconds=10)) == 2
    assert read_ids(receiver) == [first, second, second, third]
    delivery = Delivery.objects.get(message_id=second)
    assert (delivery.state, delivery.attempts, delivery.code, delivery.fault) == ("delivered", 2, 204, "")


def test_a_restored_copy_holds_its_deliveries_back_until_somebody_sends_them_again(workspace, target, receiver):
    alert = make_alert(workspace, target)
    (delivery,) = queue_tests(workspace, target, now=NOW)
    assert (pause_every_alert(actor="restore", now=NOW), pause_every_alert(actor="restore", now=NOW)) == (1, 0)
    alert.refresh_from_db()
    assert alert.paused_at == NOW
    assert deliver_due(now=NOW + HOUR) == 0
    delivery.refresh_from_db()
    assert (delivery.state, delivery.fault) == ("dead", HELD_BACK)
    assert list(AuditEntry.objects.filter(actor="restore").values_list("action", flat=True)) == ["alert paused"]
    assert send_again(delivery, actor="ada", now=NOW + HOUR)
    assert deliver_due(now=NOW + HOUR) == 1


def test_a_failing_target_does_not_hold_back_another(workspace, target, receiver):
    other, _ = make_target(workspace, receiver.url, Target.SLACK, "chat")
    queue_tests(workspace, target, now=NOW)
    receiver.codes = [503]
    deliver_due(now=NOW + MINUTE)
    queue_tests(workspace, other, now=NOW)
    deliver_due(now=NOW + MINUTE)
    assert Delivery.objects.get(target=other).state == "delivered"
    assert Delivery.objects.get(target=target).state == "waiting"


def test_targets_with_long_queues_do_not_hold_back_another_that_is_due_later(
    workspace, other_workspace, target, receiver
):
    other, _ = make_target(other_workspace, receiver.url, name="other")
    queue_tests(workspace, target, 3, now=NOW)
    queue_tests(other_workspace, other, now=NOW + timedelta(seconds=1))
    deliver_due(now=NOW + MINUTE)
    (expected,) = Delivery.objects.filter(target=other)
    assert read_ids(receiver).index(str(expected.message_id)) == 1


@pytest.mark.parametrize(
    ("code", "fault"),
    [(302, "redirects are not followed"), (400, "answered 400"), (410, "answered 410"), (500, "answered 500")],
)
def test_every_answer_other_than_success_is_retried(workspace, target, receiver, code, fault):
    receiver.codes = [code]
    queue_tests(workspace, target, now=NOW)
    deliver_due(now=NOW + MINUTE)
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.code, delivery.fault) == ("waiting", code, fault)
    assert delivery.next_attempt_at > NOW + MINUTE


def test_the_next_attempt_respects_retry_after_but_is_at_most_24_hours_after_the_first(workspace, target, receiver):
    queue_tests(workspace, target, now=NOW)
    receiver.codes, receiver.headers = [503], {"Retry-After": "3600"}
    deliver_due(now=NOW)
    assert Delivery.objects.get().next_attempt_at == NOW + HOUR
    assert find_next_attempt(1, NOW, now=NOW, retry_after=timedelta(seconds=1), draw=lambda: 0.5) == NOW + PAUSES[0]
    assert find_next_attempt(1, NOW, now=NOW + DAY - MINUTE, retry_after=HOUR) == NOW + RETRIED_FOR


def test_after_24_hours_a_delivery_is_a_dead_letter_and_the_next_is_tried(workspace, target, receiver):
    receiver.codes = [500] * 100
    first, second = queue_tests(workspace, target, 2, now=NOW)
    now = NOW
    while Delivery.objects.filter(pk=first.pk, state="waiting").exists():
        now = Target.objects.get(pk=target.pk).next_attempt_at
        deliver_due(now=now)
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.state, first.code) == ("dead", 500)
    assert NOW + DAY <= first.finished_at <= NOW + DAY + MINUTE
    assert second.attempts >= 1  # only the first delivery had held it back
    deliver_due(now=now + MINUTE)
    assert Delivery.objects.filter(state="dead").count() == 2
    assert Target.objects.get(pk=target.pk).next_attempt_at is None


def test_a_dead_letter_sent_again_keeps_its_id_and_goes_to_the_end_of_the_queue(workspace, target, receiver):
    dead, waiting = queue_tests(workspace, target, 2, now=NOW)
    Delivery.objects.filter(pk=dead.pk).update(state="dead", attempts=14, next_attempt_at=None)
    assert send_again(dead, actor="ada", now=NOW + HOUR)
    assert not send_again(dead, actor="ada", now=NOW + HOUR)
    deliver_due(now=NOW + HOUR)
    assert read_ids(receiver) == [str(waiting.message_id), str(dead.message_id)]
    assert send_again(waiting, actor="ada", now=NOW + HOUR) is False


def test_the_delivery_of_a_worker_that_dies_is_sent_again(workspace, target, receiver, monkeypatch):
    queue_tests(workspace, target, now=NOW)
    claim = claim_target(now=NOW)
    assert claim_target(now=NOW) is None
    monkeypatch.setattr(delivering, "_record_attempt", lambda *_, **__: False)
    deliver(claim, now=NOW)  # the worker dies before it records the answer
    monkeypatch.undo()
    assert claim_target(now=NOW + LEASE - MINUTE) is None
    assert deliver_due(now=NOW + LEASE) == 1
    first, second = read_ids(receiver)
    assert first == second
    assert Delivery.objects.get().attempts == 1


def test_deliveries_go_on_after_the_clock_was_set_ahead_and_back(workspace, target, receiver):
    queue_tests(workspace, target, now=NOW + 365 * DAY)
    receiver.codes = [500]
    assert deliver_due(now=NOW + 365 * DAY + MINUTE) == 1
    assert deliver_due(now=NOW) == 1
    assert Delivery.objects.get().state == "delivered"


def test_a_claim_from_before_the_clock_was_set_back_expires(workspace, target, receiver):
    queue_tests(workspace, target, now=NOW)
    claim_target(now=NOW + 365 * DAY)  # and the worker dies
    assert deliver_due(now=NOW) == 1


def test_a_worker_without_its_claim_records_nothing(workspace, target, receiver):
    queue_tests(workspace, target, now=NOW)
    late = claim_target(now=NOW)
    in_time = claim_target(now=NOW + LEASE)
    receiver.codes = [500]
    assert deliver(late, now=NOW + LEASE) is False
    assert Delivery.objects.get().attempts == 0
    assert deliver(in_time, now=NOW + LEASE) is True


def test_deleting_a_target_during_a_delivery_does_not_fail_the_delivery_task(workspace, target, receiver, monkeypatch):
    queue_tests(workspace, target, now=NOW)
    claim = claim_target(now=NOW)
    send = delivering.send

    def send_and_delete(*arguments, **keywords):
        answer = send(*arguments, **keywords)
        delete_target(Target.objects.get(pk=target.pk), actor="ada", now=NOW)
        return answer

    monkeypatch.setattr(delivering, "send", send_and_delete)
    assert deliver(claim, now=NOW) is False
    assert len(receiver.requests) == 1
    assert not Delivery.objects.exists()
    assert deliver(claim, now=NOW) is False


def test_waiting_deliveries_and_dead_letters_are_in_the_metrics(client, settings, workspace, target, receiver):
    def read() -> dict[str, float]:
        headers = {"Authorization": f"Bearer {settings.METRICS_TOKEN}"}
        lines = client.get("/metrics", headers=headers).content.decode().splitlines()
        samples = [line.rpartition(" ") for line in lines if line.startswith("affidavit_alert_")]
        return {name: float(value) for name, _, value in samples}

    queue_tests(workspace, target, 2, now=NOW)
    Delivery.objects.filter(pk=Delivery.objects.latest("queued_at").pk).update(state="dead")
    values = read()
    assert values["affidavit_alert_deliveries_waiting"] == values["affidavit_alert_dead_letters"] == 1


def test_no_transaction_is_open_while_a_delivery_is_sent(workspace, target, receiver, monkeypatch):
    queue_tests(workspace, target, now=NOW)
    blocks: list[bool] = []
    send = delivering.send

    def watch(*arguments, **keywords):
        depth = len(connection.savepoint_ids)
        blocks.append(depth > 0)
        with CaptureQueriesContext(connection) as queries:
            answer = send(*arguments, **keywords)
        blocks.append(bool(queries.captured_queries))
        return answer

    monkeypatch.setattr(delivering, "send", watch)
    deliver_due(now=NOW)
    assert blocks == [False, False]


@pytest.mark.django_db(transaction=True)
def test_many_workers_send_each_delivery_once_and_in_order(workspace, receiver):
    targets = [make_target(workspace, receiver.url, name=f"ops {number}")[0] for number in range(3)]
    expected = {
        target.pk: [str(delivery.message_id) for delivery in queue_tests(workspace, target, 4, now=NOW)]
        for target in targets
    }

    def work() -> None:
        deliver_due(now=NOW + MINUTE)
        connections.close_all()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids = read_ids(receiver)
    assert len(ids) == 12
    for messages in expected.values():
        assert [message_id for message_id in ids if message_id in messages] == messages


@pytest.mark.django_db(transaction=True)
def test_a_dead_letter_sent_again_while_the_last_delivery_is_recorded_is_sent(workspace, receiver, monkeypatch):
    target, _ = make_target(workspace, receiver.url)
    dead, _ = queue_tests(workspace, target, 2, now=NOW)
    Delivery.objects.filter(pk=dead.pk).update(state=Delivery.DEAD, next_attempt_at=None)
    find_first, finds = delivering._find_first, []

    def send_dead_letter_again() -> None:
        send_again(dead, actor="ada", now=NOW)
        connections.close_all()

    thread = threading.Thread(target=send_dead_letter_again)

    def find_first_and_wait(target: Target) -> Delivery | None:
        delivery = find_first(target)
        finds.append(delivery)
        if len(finds) == 2:  # the search after the delivery, which finds none
            thread.start()
            thread.join(1)
        return delivery

    monkeypatch.setattr(delivering, "_find_first", find_first_and_wait)
    claim = claim_target(now=NOW + MINUTE)
    assert deliver(claim, now=NOW + MINUTE) is True
    thread.join()
    assert finds[1] is None
    assert deliver_due(now=NOW + MINUTE) == 1
    assert not Delivery.objects.exclude(state=Delivery.DELIVERED).exists()


def test_the_address_of_a_target_is_encrypted_in_the_database(workspace, target, receiver):
    stored = repr(list(Target.objects.values()))
    assert "s3cret" not in stored
    assert "whsec_" not in stored
    assert target.shown_address == receiver.url.partition("/hooks")[0]
