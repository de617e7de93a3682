"""From a breaking change in witness reports to a webhook that the `standardwebhooks` package verifies."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.utils import timezone
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from alerts.evaluation.fire import evaluate_all
from alerts.models import Delivery, Event
from alerts.setup.rotate_webhook_secret import rotate_webhook_secret
from alerts.setup.send_test_message import send_test
from tests.alerts.alerts import deliver_due, make_alert, make_target
from tests.catalog.reports import deliver, environment_of, observation

pytestmark = pytest.mark.django_db


def test_a_breaking_change_arrives_signed(api, workspace, receiver):
    target, secret = make_target(workspace, receiver.url)
    make_alert(workspace, target)
    deliver(api, workspace, *[observation(response={"id": 1, "total": 2})] * 30)
    assert evaluate_all(now=timezone.now()) == 0
    deliver(api, workspace, *[observation(response={"id": "1", "total": 2})] * 30)
    now = timezone.now() + timedelta(minutes=1)
    assert evaluate_all(now=now) == 1
    assert deliver_due(now=now) == 1

    (headers, body), *more = receiver.requests
    assert not more
    message = Webhook(secret).verify(body, headers)
    assert message == json.loads(body)
    assert message["type"] == "drift.breaking"
    assert abs(message["timestamp"] - timezone.now().timestamp()) < 60
    data = message["data"]
    assert (data["workspace"], data["environment"]) == ("Lumen Books", "production")
    assert data["operation"] == "GET /orders/{orderId}"
    assert data["changes"][0]["pointer"] == "/id"
    assert data["changes"][0]["breaks"] == "consumer"
    assert data["title"].startswith("Breaking drift in production: GET /orders/{orderId}, 200 /id ")
    page, _, week = data["url"].partition("&")
    assert page == f"https://hub.example/w/{workspace.workspace.slug}/production/drift?breaking=1"
    assert week.startswith("from=")
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.code, delivery.attempts) == ("delivered", 204, 1)
    assert headers["webhook-id"] == str(delivery.message_id)
    for change in ({"webhook-id": "other"}, {"webhook-timestamp": str(int(now.timestamp()) - 1)}):
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(body, {**headers, **change})
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body + b" ", headers)
    assert evaluate_all(now=now + timedelta(minutes=1)) == deliver_due(now=now + timedelta(minutes=1)) == 0
    assert Event.objects.count() == 1


def test_after_a_rotation_both_secrets_verify_for_a_day(api, workspace, receiver):
    target, old_secret = make_target(workspace, receiver.url)
    make_alert(workspace, target)
    now = timezone.now()
    new_secret = rotate_webhook_secret(target, actor="ada", now=now - timedelta(hours=23))
    deliver(api, workspace, *[observation(response={"id": 1})] * 30)
    deliver(api, workspace, *[observation(response={"id": "1"})] * 30)
    evaluate_all(now=timezone.now())
    deliver_due(now=timezone.now())
    headers, body = receiver.requests[0]
    for secret in (old_secret, new_secret):
        assert Webhook(secret).verify(body, headers)
    Delivery.objects.update(state="waiting", next_attempt_at=now)
    target.__class__.objects.update(next_attempt_at=now, previous_until=now)
    deliver_due(now=timezone.now())
    headers, body = receiver.requests[1]
    assert Webhook(new_secret).verify(body, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(old_secret).verify(body, headers)


def test_a_second_rotation_within_a_day_does_not_end_the_time_of_the_first_secret(api, workspace, receiver):
    """As when the secret of the first rotation was lost, because the page shows it only once."""
    target, first_secret = make_target(workspace, receiver.url)
    now = timezone.now()
    secrets = [rotate_webhook_secret(target, actor="ada", now=now - timedelta(hours=hours)) for hours in (3, 2)]
    send_test(target, environment_of(workspace), url="", actor="ada", now=now)
    assert deliver_due(now=now) == 1
    ((headers, body),) = receiver.requests
    for secret in (first_secret, *secrets):
        Webhook(secret).verify(body, headers)
    for hours in (1, 1, 1):
        secrets.append(rotate_webhook_secret(target, actor="ada", now=now - timedelta(hours=hours)))
    send_test(target, environment_of(workspace), url="", actor="ada", now=now)
    assert deliver_due(now=now) == 1
    headers, body = receiver.requests[-1]
    assert len(headers["webhook-signature"].split()) == 4
    Webhook(secrets[-1]).verify(body, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(first_secret).verify(body, headers)
