"""Messages for chats hold no mention or link of others, and use the words of pages."""

from __future__ import annotations

import json

import pytest
from django.utils import timezone

from alerts.models import Event, Target
from tests.alerts.alerts import deliver_due, make_target, queue_tests

NOW = timezone.now()
pytestmark = pytest.mark.django_db


def test_text_for_a_chat_cannot_contain_mentions_or_links(workspace, receiver):
    target, _ = make_target(workspace, receiver.url, Target.SLACK, "chat")
    queue_tests(workspace, target, now=NOW)
    Event.objects.update(title="<!channel> & <https://evil.example|x>", url="https://hub.example/w/x")
    deliver_due(now=NOW)
    headers, body = receiver.requests[0]
    assert "webhook-signature" not in headers
    text = json.loads(body)["text"]
    assert text.startswith(
        "<https://hub.example/w/x|&lt;!channel&gt; &amp; &lt;https://evil.example¦x&gt;> (Lumen Books)"
    )


def test_messages_to_people_name_the_sides_that_a_change_breaks_as_pages_do(workspace, receiver):
    target, _ = make_target(workspace, receiver.url, Target.SLACK, "chat")
    queue_tests(workspace, target, now=NOW)
    changes = [
        {"part": "request", "pointer": "", "change": "new", "breaks": "consumer"},
        {"part": "200", "pointer": "/total", "change": "type changed", "breaks": "both"},
    ]
    Event.objects.update(title="a\nb", url="https://hub.example/w/x", facts={"changes": changes, "changeCount": 2})
    deliver_due(now=NOW)
    title, *lines = json.loads(receiver.requests[0][1])["text"].split("\n")
    assert title == "<https://hub.example/w/x|a b> (Lumen Books)"
    assert lines == ["• request: new, breaks consumers", "• 200 /total: type changed, breaks both sides"]
