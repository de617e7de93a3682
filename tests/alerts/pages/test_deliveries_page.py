"""The log of deliveries shows what failed, sends tests and dead letters, and filters as its address says."""

from __future__ import annotations

import json

import pytest
from django.utils import timezone

from alerts.models import Delivery, Target
from tests.alerts.alerts import deliver_due, make_target
from tests.alerts.pages.alert_pages import LOG, PAGE, read

pytestmark = pytest.mark.django_db


def test_a_test_goes_to_its_target_alone(admin, workspace, target, receiver):
    make_target(workspace, receiver.url, Target.SLACK, "chat")
    answer = admin.post(f"{PAGE}/targets/{target.pk}/test")
    assert answer["Location"] == f"{LOG}?done=test&target={target.pk}"
    assert "A test is on its way." in read(admin, answer["Location"])
    assert deliver_due(now=timezone.now()) == 1
    (_, body) = receiver.requests[0]
    assert json.loads(body)["type"] == "test"
    assert json.loads(body)["data"]["url"] == f"http://testserver{LOG}"
    assert "delivered <time" in read(admin, LOG)


def test_the_log_shows_what_failed_and_sends_dead_letters_again(admin, workspace, target, receiver):
    admin.post(f"{PAGE}/targets/{target.pk}/test")
    receiver.codes = [410]
    deliver_due(now=timezone.now())
    text = read(admin, LOG)
    assert "failing: answered 410" in text
    assert '<td class="num" data-is="answer">410</td>' in text
    assert '<td data-is="next attempt">' in text, "on a phone, no column says so"
    assert "Send again" not in text
    assert "1 waiting" in read(admin, PAGE)
    delivery = Delivery.objects.get()
    Delivery.objects.update(state="dead", finished_at=timezone.now(), next_attempt_at=None)
    Target.objects.update(next_attempt_at=None)
    assert "dead letter" in read(admin, f"{LOG}?state=dead&target={target.pk}")
    assert "Nothing matches" in read(admin, f"{LOG}?state=delivered")
    assert "Send again" in read(admin, LOG)
    form_page = f"http://testserver{LOG}?range=24h&state=dead&target={target.pk}"
    answer = admin.post(f"{LOG}/{delivery.pk}/again", HTTP_REFERER=form_page)
    assert answer["Location"] == f"{LOG}?range=24h&state=dead&target={target.pk}&done=again"
    assert deliver_due(now=timezone.now()) == 1
    assert Delivery.objects.get().state == "delivered"
    assert admin.post(f"{LOG}/{delivery.pk}/again")["Location"] == LOG


def test_a_target_still_shows_the_error_of_its_last_attempt_while_a_dead_letter_waits_again(
    admin, workspace, target, receiver
):
    for code in (200, 410):
        receiver.codes = [code]
        admin.post(f"{PAGE}/targets/{target.pk}/test")
        deliver_due(now=timezone.now())
    failed = Delivery.objects.get(code=410)
    Delivery.objects.filter(pk=failed.pk).update(state="dead", finished_at=timezone.now(), next_attempt_at=None)
    Target.objects.update(next_attempt_at=None)
    admin.post(f"{LOG}/{failed.pk}/again")
    text = read(admin, PAGE)
    assert '<span class="bad">answered 410</span>' in text
    assert "1 waiting" in text


def test_a_delivery_behind_one_that_fails_has_no_time_of_its_next_attempt(admin, workspace, target, receiver):
    receiver.codes = [500] * 2
    for _ in range(2):
        admin.post(f"{PAGE}/targets/{target.pk}/test")
    deliver_due(now=timezone.now())
    assert read(admin, LOG).count("in its turn") == 1
    behind, failing = json.loads(admin.get(f"{LOG}.json").getvalue())["tables"]["deliveries"]
    assert (behind["attempts"], behind["nextAttemptAt"]) == (0, None)
    assert failing["attempts"] > 0
    assert failing["nextAttemptAt"] > failing["queuedAt"]


def test_a_target_that_is_gone_stays_chosen(admin):
    page = admin.get(f"{LOG}?target=999999").content.decode()
    assert '<option value="999999" selected>a deleted target</option>' in page
    assert "a deleted target" not in admin.get(LOG).content.decode()
    assert "a deleted target" not in admin.get(f"{LOG}?target=none").content.decode()
