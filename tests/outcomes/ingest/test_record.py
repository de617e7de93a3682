"""POST /api/conversation-outcomes (contract §2).

The spec is the specification on which the contract is based; this endpoint is in its section 4.1.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcomes.models import Conversation, Outcome, Tally

URL = "/api/conversation-outcomes"
STRANGE = [
    "😀",
    "\u202eabc",
    "   ",
    "é",
    "e\u0301",
    "a" * 255,
    "😀" * 255,
    "=1+1",
    "'; --",
    "%s",
    "\\",
    "\u0001",
    "\t",
    "A",
    "a",
]


def item(conversation_id: str, key: str = "purchase") -> dict[str, str]:
    return {"conversationId": conversation_id, "outcomeKey": key}


def report(api, *items, **members):
    return api.post(URL, {"outcomes": list(items), **members})


def know(api, *ids: str, environment: str = "production") -> None:
    body = {"environment": environment, "conversations": [{"conversationId": id_} for id_ in ids]}
    assert api.post("/api/conversations", body).status_code == 200


def test_the_request_of_the_spec_gets_the_answer_of_the_spec(api):
    know(api, "conv_1")
    response = report(api, item("conv_1"), item("conv_2", "renewal"))
    assert response.status_code == 200
    assert response.json() == {"recorded": 1, "unknownConversations": ["conv_2"]}
    assert response["X-Outcomes-New"] == "1"


def test_an_empty_batch_is_valid(api):
    response = report(api)
    assert response.json() == {"recorded": 0, "unknownConversations": []}
    assert response["X-Outcomes-New"] == "0"


def test_a_repeated_outcome_only_counts_as_another_report(api, workspace):
    know(api, "c")
    first = report(api, item("c"), item("c"))
    again = report(api, item("c"))
    assert (first.json()["recorded"], first["X-Outcomes-New"]) == (2, "1")
    assert (again.json()["recorded"], again["X-Outcomes-New"]) == (1, "0")
    outcome = Outcome.objects.get()
    assert outcome.reports == 3
    assert outcome.first_reported_at < outcome.last_reported_at


def test_unknown_ids_are_listed_once_in_order_of_first_appearance(api):
    know(api, "k")
    response = report(api, item("z"), item("k"), item("a"), item("z", "other"), item("m"), item("a"))
    assert response.json() == {"recorded": 1, "unknownConversations": ["z", "a", "m"]}


def test_five_hundred_items_of_one_id_are_one_outcome(api):
    know(api, "c")
    response = report(api, *[item("c")] * 500)
    assert response.json()["recorded"] == 500
    assert response["X-Outcomes-New"] == "1"
    assert Outcome.objects.get().reports == 500


def test_strange_ids_are_stored_exactly_and_distinguished(api):
    know(api, *STRANGE[::2])
    response = report(api, *map(item, STRANGE))
    assert response.json() == {"recorded": len(STRANGE[::2]), "unknownConversations": STRANGE[1::2]}
    assert set(Conversation.objects.values_list("conversation_id", flat=True)) == set(STRANGE)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=128),
        max_size=20,
    )
)
def test_any_text_is_returned_unchanged(api, texts):
    fresh = [f"unseen {text}" for text in texts]
    response = report(api, *(item(id_, text) for id_, text in zip(fresh, texts, strict=True)))
    assert response.json()["unknownConversations"] == list(dict.fromkeys(fresh))
    stored = Outcome.objects.filter(conversation__conversation_id__in=fresh)
    assert set(stored.values_list("outcome_key", flat=True)) == set(texts)


def test_members_that_the_spec_does_not_know_are_ignored(api):
    response = report(api, {**item("c"), "value": 3}, sentBy="shop")
    assert response.json() == {"recorded": 0, "unknownConversations": ["c"]}


def test_environments_do_not_share_conversations(api):
    know(api, "c", environment="staging")
    assert report(api, item("c")).json()["unknownConversations"] == ["c"]
    assert report(api, item("c"), environment="staging").json() == {"recorded": 1, "unknownConversations": []}


def test_outcomes_and_broken_joins_remember_the_key_that_reported_them(api, workspace):
    know(api, "known")
    report(api, item("known"), item("unknown"))
    key = workspace.workspace.api_keys.get(prefix=workspace.full_key[:12]).pk
    by_id = Outcome.objects.values_list("conversation__conversation_id", "reported_by")
    assert dict(by_id) == {"known": key, "unknown": key}


def test_an_outsiders_key_sees_and_touches_nothing(api, other_workspace):
    know(api, "c")
    response = api.post(URL, {"outcomes": [item("c")]}, key=other_workspace.full_key)
    assert response.json() == {"recorded": 0, "unknownConversations": ["c"]}
    assert not Outcome.objects.filter(broken=False).exists()


@pytest.mark.parametrize(
    ("outcomes", "pointers"),
    [
        ([{"outcomeKey": "k"}], ["/outcomes/0/conversationId"]),
        (
            [item("c"), {"conversationId": "", "outcomeKey": 3}],
            ["/outcomes/1/conversationId", "/outcomes/1/outcomeKey"],
        ),
        ([item("x" * 256)], ["/outcomes/0/conversationId"]),
        ([item("c", "k" * 129)], ["/outcomes/0/outcomeKey"]),
        ([item("c"), None, "c"], ["/outcomes/1", "/outcomes/2"]),
        ("c", ["/outcomes"]),
        (None, ["/outcomes"]),
        ({}, ["/outcomes"]),
    ],
)
def test_every_fault_has_a_pointer_and_nothing_is_stored(api, outcomes, pointers):
    response = api.post(URL, {"outcomes": outcomes})
    assert response.status_code == 400
    assert response.json()["code"] == "invalid-request"
    assert [fault["pointer"] for fault in response.json()["errors"]] == pointers
    assert not Conversation.objects.exists()


def test_a_missing_batch_is_a_fault_and_501_items_are_too_many(api):
    assert api.post(URL, {}).json()["errors"][0]["pointer"] == "/outcomes"
    response = report(api, *[item("c")] * 501)
    assert (response.status_code, response.json()["code"]) == (400, "batch-too-large")
    assert (response.json()["limit"], response.json()["received"]) == (500, 501)
    assert not Tally.objects.exists()


def test_no_fault_repeats_a_value(api):
    response = report(api, {"conversationId": "secret-value" * 30, "outcomeKey": ["secret-value"]})
    assert response.status_code == 400
    assert b"secret-value" not in response.content


def test_an_id_with_nul_and_another_spelling_of_an_environment_are_refused(api):
    assert report(api, item("a\0")).json()["code"] == "invalid-json"
    response = report(api, item("a"), environment="Production")
    assert (response.status_code, response.json()["code"]) == (400, "unknown-environment")
    assert not Conversation.objects.exists()


def test_reporting_needs_its_scope(api, workspace):
    workspace.workspace.api_keys.filter(kind="secret").update(scopes=["platform"])
    assert report(api, item("c")).json()["code"] == "scope-missing"


def test_a_replay_under_an_idempotency_key_does_not_even_count_as_a_report(api):
    know(api, "c")
    body = {"outcomes": [item("c"), item("u")]}
    answers = [api.post(URL, body, headers={"Idempotency-Key": "k1"}) for _ in range(3)]
    assert len({(answer.content, answer["X-Outcomes-New"]) for answer in answers}) == 1
    assert set(Outcome.objects.values_list("reports", flat=True)) == {1}


def test_a_repeated_batch_gets_the_same_bytes_whatever_was_stored(api):
    know(api, "c")
    body = {"outcomes": [item("c"), item("u"), item("c", "renewal")]}
    assert len({api.post(URL, body).content for _ in range(20)}) == 1
    assert Outcome.objects.count() == 3
