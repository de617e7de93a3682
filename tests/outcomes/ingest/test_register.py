"""POST /api/conversations (contract §2)."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from outcomes.models import Conversation, Outcome

URL = "/api/conversations"


def register(api, *conversations, **members):
    return api.post(URL, {"conversations": list(conversations), **members})


def report(api, *ids: str, key: str = "purchase"):
    items = [{"conversationId": id_, "outcomeKey": key} for id_ in ids]
    return api.post("/api/conversation-outcomes", {"outcomes": items})


def test_conversations_are_registered_once(api):
    first = register(api, {"conversationId": "a"}, {"conversationId": "b"}, {"conversationId": "a"})
    assert first.json() == {"registered": 2, "alreadyKnown": 1, "healedOutcomes": 0}
    again = register(api, {"conversationId": "b"}, {"conversationId": "c"})
    assert again.json() == {"registered": 1, "alreadyKnown": 1, "healedOutcomes": 0}


def test_an_empty_batch_is_valid(api):
    assert register(api).json() == {"registered": 0, "alreadyKnown": 0, "healedOutcomes": 0}


def test_the_time_of_the_first_registration_is_kept(api):
    register(
        api,
        {"conversationId": "a", "startedAt": 1_700_000_000},
        {"conversationId": "a", "startedAt": 1_600_000_000},
    )
    register(api, {"conversationId": "a", "startedAt": 1_500_000_000})
    assert Conversation.objects.get().started_at == datetime.fromtimestamp(1_700_000_000, UTC)


def test_a_conversation_starts_now_by_default(api):
    register(api, {"conversationId": "a"})
    assert timezone.now() - Conversation.objects.get().started_at < timedelta(minutes=1)


def test_broken_joins_heal_and_keep_their_times(api):
    report(api, "a", "b")
    report(api, "a", key="renewal")
    before = dict(Outcome.objects.values_list("pk", "first_reported_at"))
    assert register(api, {"conversationId": "a"}).json()["healedOutcomes"] == 2
    assert dict(Outcome.objects.values_list("pk", "first_reported_at")) == before
    healed = Outcome.objects.filter(conversation__conversation_id="a")
    assert all(not outcome.broken and outcome.healed_at for outcome in healed)
    assert Outcome.objects.filter(broken=True).count() == 1
    answer = report(api, "a")
    assert (answer.json(), answer["X-Outcomes-New"]) == ({"recorded": 1, "unknownConversations": []}, "0")


def test_an_outsiders_registration_heals_nothing_here(api, other_workspace):
    report(api, "a")
    answer = api.post(URL, {"conversations": [{"conversationId": "a"}]}, key=other_workspace.full_key)
    assert answer.json() == {"registered": 1, "alreadyKnown": 0, "healedOutcomes": 0}
    assert Outcome.objects.get().broken


def test_a_sibling_environment_heals_nothing_here(api):
    report(api, "a")
    assert register(api, {"conversationId": "a"}, environment="staging").json()["healedOutcomes"] == 0


@pytest.mark.parametrize(
    ("conversations", "pointer"),
    [
        ([{}], "/conversations/0/conversationId"),
        ([{"conversationId": "a", "startedAt": "now"}], "/conversations/0/startedAt"),
        ([{"conversationId": "a", "startedAt": None}], "/conversations/0/startedAt"),
        ([{"conversationId": "a", "startedAt": True}], "/conversations/0/startedAt"),
        ([{"conversationId": "a", "startedAt": 4_000_000_000}], "/conversations/0/startedAt"),
        ([{"conversationId": "a", "startedAt": -5}], "/conversations/0/startedAt"),
        ([{"conversationId": "a", "startedAt": 10**300}], "/conversations/0/startedAt"),
        ([{"conversationId": "x" * 256}], "/conversations/0/conversationId"),
        ([[]], "/conversations/0"),
        (7, "/conversations"),
    ],
)
def test_faults_have_pointers_and_nothing_is_stored(api, conversations, pointer):
    response = api.post(URL, {"conversations": conversations})
    assert (response.status_code, response.json()["code"]) == (400, "invalid-request")
    assert [fault["pointer"] for fault in response.json()["errors"]] == [pointer]
    assert not Conversation.objects.exists()


def test_more_than_five_hundred_are_refused(api):
    response = register(api, *({"conversationId": str(n)} for n in range(501)))
    assert (response.status_code, response.json()["code"]) == (400, "batch-too-large")
    assert not Conversation.objects.exists()


def test_registering_needs_the_platforms_scope(api, workspace):
    workspace.workspace.api_keys.filter(kind="secret").update(scopes=["report"])
    assert register(api, {"conversationId": "a"}).json()["code"] == "scope-missing"
