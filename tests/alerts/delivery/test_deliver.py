"""Deliveries arrive at least once and in order per target; after 24 hours of retries they are dead letters."""

from __future__ import annotations

import json
import socket
import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.core import mail
from django.db import OperationalError, connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from alerts.delivery import deliver as delivering
from alerts.delivery.deliver import LEASE, claim_target, deliver
from alerts.delivery.prune import delete_expired_events, find_expired_events
from alerts.delivery.queue import HELD_BACK
from alerts.delivery.retries import PAUSES, RETRIED_FOR, find_next_attempt, parse_retry_after
from alerts.models import Delivery, Event, Target
from alerts.setup.alerts import pause_every_alert
from alerts.setup.send_again import send_again
from alerts.setup.send_test_message import send_test
from alerts.setup.targets import delete_target
from hub.programs import alert_sender
from hub.programs.alert_sender import Sender
from tests.alerts.alerts import deliver_due, make_alert, make_target
from tests.catalog.reports import environment_of
from workspaces.models import AuditEntry

NOW = timezone.now()
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
pytestmark = pytest.mark.django_db


@pytest.fixture
def target(workspace, receiver) -> Target:
    return make_target(workspace, receiver.url)[0]


def queue(workspace, target: Target, count: int = 1, now=NOW) -> list[Delivery]:
    production = environment_of(workspace)
    for number in range(count):
        send_test(target, production, url="", actor="ada", now=now + timedelta(microseconds=number))
    return list(Delivery.objects.filter(target=target).order_by("queued_at"))


def read_ids(receiver) -> list[str]:
    return [headers["webhook-id"] for headers, _ in receiver.requests]


def test_deliveries_arrive_in_order_and_a_failed_delivery_holds_back_later_ones(workspace, target, receiver):
    first, second, third = (str(delivery.message_id) for delivery in queue(workspace, target, 3))
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
    (delivery,) = queue(workspace, target)
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
    queue(workspace, target)
    receiver.codes = [503]
    deliver_due(now=NOW + MINUTE)
    queue(workspace, other)
    deliver_due(now=NOW + MINUTE)
    assert Delivery.objects.get(target=other).state == "delivered"
    assert Delivery.objects.get(target=target).state == "waiting"


def test_targets_with_long_queues_do_not_hold_back_another_that_is_due_later(
    workspace, other_workspace, target, receiver
):
    other, _ = make_target(other_workspace, receiver.url, name="other")
    queue(workspace, target, 3)
    queue(other_workspace, other, now=NOW + timedelta(seconds=1))
    deliver_due(now=NOW + MINUTE)
    (expected,) = Delivery.objects.filter(target=other)
    assert read_ids(receiver).index(str(expected.message_id)) == 1


@pytest.mark.parametrize(
    ("code", "fault"),
    [(302, "redirects are not followed"), (400, "answered 400"), (410, "answered 410"), (500, "answered 500")],
)
def test_every_answer_other_than_success_is_retried(workspace, target, receiver, code, fault):
    receiver.codes = [code]
    queue(workspace, target)
    deliver_due(now=NOW + MINUTE)
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.code, delivery.fault) == ("waiting", code, fault)
    assert delivery.next_attempt_at > NOW + MINUTE


def test_pauses_between_attempts_grow_with_jitter_until_the_last_attempt_after_24_hours():
    now, attempts, moments = NOW, 1, []
    while (next_at := find_next_attempt(attempts, NOW, now=now, draw=lambda: 0.5)) is not None:
        moments.append(next_at - now)
        now, attempts = next_at, attempts + 1
    assert moments[: len(PAUSES)] == PAUSES
    assert now == NOW + RETRIED_FOR
    assert 10 < attempts < 20
    low, high = (find_next_attempt(3, NOW, now=NOW, draw=lambda draw=draw: draw) for draw in (0.0, 0.999))
    assert timedelta(seconds=90) < low - NOW < timedelta(seconds=120) < high - NOW < timedelta(seconds=150)


@pytest.mark.parametrize(
    ("text", "pause"),
    [
        ("120", timedelta(minutes=2)),
        (" 120 ", timedelta(minutes=2)),
        ("Sun, 22 Nov 2026 12:10:00 GMT", timedelta(minutes=10)),
        ("Sun, 22 Nov 2026 11:59:00 GMT", None),
        ("999999", timedelta(hours=4)),
        ("9" * 5000, timedelta(hours=4)),
        ("Sun, 22 Nov 2099 12:00:00 GMT", timedelta(hours=4)),
        ("0", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_sets_the_pause_within_limits(text, pause):
    assert parse_retry_after(text, now=datetime(2026, 11, 22, 12, tzinfo=UTC)) == pause


def test_the_next_attempt_respects_retry_after_but_is_at_most_24_hours_after_the_first(workspace, target, receiver):
    queue(workspace, target)
    receiver.codes, receiver.headers = [503], {"Retry-After": "3600"}
    deliver_due(now=NOW)
    assert Delivery.objects.get().next_attempt_at == NOW + HOUR
    assert find_next_attempt(1, NOW, now=NOW, retry_after=timedelta(seconds=1), draw=lambda: 0.5) == NOW + PAUSES[0]
    assert find_next_attempt(1, NOW, now=NOW + DAY - MINUTE, retry_after=HOUR) == NOW + RETRIED_FOR


def test_after_24_hours_a_delivery_is_a_dead_letter_and_the_next_is_tried(workspace, target, receiver):
    receiver.codes = [500] * 100
    first, second = queue(workspace, target, 2)
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
    dead, waiting = queue(workspace, target, 2)
    Delivery.objects.filter(pk=dead.pk).update(state="dead", attempts=14, next_attempt_at=None)
    assert send_again(dead, actor="ada", now=NOW + HOUR)
    assert not send_again(dead, actor="ada", now=NOW + HOUR)
    deliver_due(now=NOW + HOUR)
    assert read_ids(receiver) == [str(waiting.message_id), str(dead.message_id)]
    assert send_again(waiting, actor="ada", now=NOW + HOUR) is False


def test_the_delivery_of_a_worker_that_dies_is_sent_again(workspace, target, receiver, monkeypatch):
    queue(workspace, target)
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
    queue(workspace, target, now=NOW + 365 * DAY)
    receiver.codes = [500]
    assert deliver_due(now=NOW + 365 * DAY + MINUTE) == 1
    assert deliver_due(now=NOW) == 1
    assert Delivery.objects.get().state == "delivered"


def test_a_claim_from_before_the_clock_was_set_back_expires(workspace, target, receiver):
    queue(workspace, target)
    claim_target(now=NOW + 365 * DAY)  # and the worker dies
    assert deliver_due(now=NOW) == 1


def test_a_worker_without_its_claim_records_nothing(workspace, target, receiver):
    queue(workspace, target)
    late = claim_target(now=NOW)
    in_time = claim_target(now=NOW + LEASE)
    receiver.codes = [500]
    assert deliver(late, now=NOW + LEASE) is False
    assert Delivery.objects.get().attempts == 0
    assert deliver(in_time, now=NOW + LEASE) is True


def test_deleting_a_target_during_a_delivery_does_not_fail_the_delivery_task(workspace, target, receiver, monkeypatch):
    queue(workspace, target)
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

    queue(workspace, target, 2)
    Delivery.objects.filter(pk=Delivery.objects.latest("queued_at").pk).update(state="dead")
    values = read()
    assert values["affidavit_alert_deliveries_waiting"] == values["affidavit_alert_dead_letters"] == 1


def test_no_transaction_is_open_while_a_delivery_is_sent(workspace, target, receiver, monkeypatch):
    queue(workspace, target)
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
    expected = {target.pk: [str(delivery.message_id) for delivery in queue(workspace, target, 4)] for target in targets}

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
    dead, _ = queue(workspace, target, 2)
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


@pytest.mark.django_db(transaction=True)
def test_the_worker_s_threads_deliver(workspace, receiver):
    targets = [make_target(workspace, receiver.url, name=f"ops {number}")[0] for number in range(6)]
    for target in targets:
        queue(workspace, target)
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
    expected = [str(delivery.message_id) for delivery in queue(workspace, target, 5)]
    sender = Sender()
    assert sender.send_due() == 1
    sender._pool.shutdown()
    assert read_ids(receiver) == expected


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_stops_ends_the_delivery_that_has_begun_and_leaves_the_others(workspace, receiver):
    target, _ = make_target(workspace, receiver.url)
    first, *_ = queue(workspace, target, 5)
    sender = Sender()
    sender.stop()
    assert sender.send_due() == 1
    sender._pool.shutdown()
    assert read_ids(receiver) == [str(first.message_id)]


@pytest.mark.django_db(transaction=True)
def test_the_sender_goes_on_after_the_database_was_away(workspace, receiver, monkeypatch):
    target, _ = make_target(workspace, receiver.url)
    queue(workspace, target)
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


def test_mail_is_sent_through_the_hub_s_server(workspace, settings):
    settings.EMAIL_URL = "smtp://mail.example"
    target, secret = make_target(workspace, "ada@example.com, bob@example.com", Target.EMAIL, "people")
    assert secret == ""
    queue(workspace, target)
    Event.objects.update(title="shop\nSee: https://other.example is silent")  # a reporter may have any name
    deliver_due(now=NOW)
    (message,) = mail.outbox
    title = "shop See: https://other.example is silent"
    assert (message.subject, message.to) == (title, ["ada@example.com", "bob@example.com"])
    assert message.body.splitlines()[0] == title
    assert "Workspace: Lumen Books" in message.body
    assert str(Delivery.objects.get().message_id) in message.extra_headers["Message-ID"]


def test_without_a_mail_server_the_log_says_so(workspace, settings):
    settings.EMAIL_URL = "smtp://mail.example"
    target, _ = make_target(workspace, "ada@example.com", Target.EMAIL, "people")
    settings.EMAIL_URL = ""
    queue(workspace, target)
    deliver_due(now=NOW)
    assert "EMAIL_URL" in Delivery.objects.get().fault


def send_to_a_server_that_refuses_bob(workspace, settings, recipients):
    settings.EMAIL_URL = "smtp://mail.example"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    target, _ = make_target(workspace, recipients, Target.EMAIL, "people")
    queue(workspace, target)
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.getsockname()[:2]
        thread = threading.Thread(target=refuse_bob, args=[server])
        thread.start()
        assert deliver_due(now=NOW) == 1
        thread.join()


def test_a_mail_that_is_refused_for_some_recipients_says_for_which(workspace, settings, browser_client):
    send_to_a_server_that_refuses_bob(workspace, settings, "ada@example.com, bob@example.com")
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.fault) == ("delivered", "the mail server refused bob@example.com (550)")
    for page in ("alerts", "deliveries"):
        text = browser_client.get(f"/w/lumen-books/production/{page}").content.decode()
        assert "the mail server refused bob@example.com (550)" in text


def test_a_mail_that_is_refused_for_all_recipients_says_why(workspace, settings):
    send_to_a_server_that_refuses_bob(workspace, settings, "bob@example.com")
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.code) == ("waiting", 550)
    assert delivery.fault == "the mail server refused bob@example.com (550)"


def refuse_bob(server: socket.socket) -> None:
    """Take one mail, as a mail server does that does not know Bob."""
    connection, _ = server.accept()
    with connection, connection.makefile("rwb", buffering=0) as lines:
        lines.write(b"220 ready\r\n")
        is_content = False
        for line in lines:
            if is_content and line != b".\r\n":
                continue
            is_content = line.lower() == b"data\r\n"
            answer = b"354 go on" if is_content else b"550 unknown" if b"<bob@" in line else b"250 ok"
            lines.write(answer + b"\r\n")
            if line.lower() == b"quit\r\n":
                return


def test_an_answer_that_is_not_smtp_is_a_failed_attempt(workspace, settings):
    settings.EMAIL_URL = "smtp://mail.example"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    target, _ = make_target(workspace, "ada@example.com", Target.EMAIL, "people")
    queue(workspace, target)
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.getsockname()[:2]

        def greet() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"SSH-2.0-OpenSSH_9.9\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        assert deliver_due(now=NOW) == 1
        thread.join()
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts, delivery.code) == ("waiting", 1, None)
    assert delivery.fault == "the mail server's answer is not SMTP"


def test_text_for_a_chat_cannot_contain_mentions_or_links(workspace, receiver):
    target, _ = make_target(workspace, receiver.url, Target.SLACK, "chat")
    queue(workspace, target)
    Event.objects.update(title="<!channel> & <https://evil.example|x>", url="https://hub.example/w/x")
    deliver_due(now=NOW)
    headers, body = receiver.requests[0]
    assert "webhook-signature" not in headers
    text = json.loads(body)["text"]
    assert text.startswith(
        "<https://hub.example/w/x|&lt;!channel&gt; &amp; &lt;https://evil.example¦x&gt;> (Lumen Books)"
    )


def test_the_address_of_a_target_is_encrypted_in_the_database(workspace, target, receiver):
    stored = repr(list(Target.objects.values()))
    assert "s3cret" not in stored
    assert "whsec_" not in stored
    assert target.shown_address == receiver.url.partition("/hooks")[0]


def test_events_are_pruned_with_their_deliveries_unless_a_delivery_is_pending(
    workspace, other_workspace, target, receiver
):
    queue(workspace, target, 3, now=NOW - 10 * DAY)
    waiting = Delivery.objects.order_by("queued_at").last()
    Delivery.objects.exclude(pk=waiting.pk).update(state="dead")
    assert delete_expired_events(other_workspace.workspace, NOW, 10) == 0
    assert find_expired_events(workspace.workspace, NOW - DAY).count() == 2
    assert delete_expired_events(workspace.workspace, NOW - DAY, 1) == 1
    assert delete_expired_events(workspace.workspace, NOW - DAY, 10) == 1
    assert list(Delivery.objects.all()) == [waiting]
    assert Event.objects.count() == 1


def test_messages_to_people_name_the_sides_that_a_change_breaks_as_pages_do(workspace, receiver):
    target, _ = make_target(workspace, receiver.url, Target.SLACK, "chat")
    queue(workspace, target)
    changes = [
        {"part": "request", "pointer": "", "change": "new", "breaks": "consumer"},
        {"part": "200", "pointer": "/total", "change": "type changed", "breaks": "both"},
    ]
    Event.objects.update(title="a\nb", url="https://hub.example/w/x", facts={"changes": changes, "changeCount": 2})
    deliver_due(now=NOW)
    title, *lines = json.loads(receiver.requests[0][1])["text"].split("\n")
    assert title == "<https://hub.example/w/x|a b> (Lumen Books)"
    assert lines == ["• request: new, breaks consumers", "• 200 /total: type changed, breaks both sides"]
