"""Messages for chats hold no mention or link of others, and use the words of pages."""

from __future__ import annotations

import json

import pytest
from django.core import mail
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


def test_messages_write_characters_that_nobody_sees_as_codes(workspace, receiver, settings):  # as confirmations do
    settings.EMAIL_URL = "smtp://mail.example"
    chat, _ = make_target(workspace, receiver.url, Target.SLACK, "chat")
    people, _ = make_target(workspace, "ada@example.com", Target.EMAIL, "people")
    workspace.workspace.name = "Lumen\u202eskooB"
    workspace.workspace.save()
    for target in (chat, people):
        queue_tests(workspace, target, now=NOW)
    changes = [{"part": "200", "pointer": "/\u202elatot", "change": "removed", "breaks": "consumer"}]
    Event.objects.update(title="shop\u200b\u202e is silent", facts={"changes": changes, "changeCount": 1})
    deliver_due(now=NOW)
    text = json.loads(receiver.requests[0][1])["text"]
    assert text == "shop\\u200b\\u202e is silent (Lumen\\u202eskooB)\n• 200 /\\u202elatot: removed, breaks consumers"
    (message,) = mail.outbox
    assert message.subject == "shop\\u200b\\u202e is silent"
    assert message.body.startswith("shop\\u200b\\u202e is silent\n- 200 /\\u202elatot: removed, breaks consumers\n")
    assert "Workspace: Lumen\\u202eskooB\n" in message.body
