import pytest
from support.scripted_hub import ScriptedHub, answer, problem, reset

from affidavit._errors import Fault, ReportError
from affidavit._hub.api_keys import make_key
from affidavit._hub.transport import HttpTransport
from affidavit._outcomes.report import OutcomeReceipt, report_outcomes, reportOutcomes

KEY = make_key("gak_")
SOLD = {"conversationId": "c-1", "outcomeKey": "purchase"}


def answer_stored(recorded, *unknown):
    return answer(200, {"recorded": recorded, "unknownConversations": list(unknown)})


def impatient(url):
    return HttpTransport(url, 5.0, sleep=lambda _: None)


def make_outcomes(count):
    return [(f"c-{n}", "purchase") for n in range(count)]


def test_the_request_has_the_form_of_the_spec_and_the_receipt_is_returned():
    with ScriptedHub(answer_stored(1, "c-2")) as hub:
        receipt = report_outcomes(KEY, [SOLD, ("c-2", "renewal")], environment="staging", base_url=hub.url)
    assert receipt == OutcomeReceipt(recorded=1, unknown_conversations=("c-2",))
    (request,) = hub.received
    assert request.path == "/api/conversation-outcomes"
    assert request.headers["x-service-api-key"] == KEY
    assert request.headers["content-type"] == "application/json"
    assert request.json == {
        "environment": "staging",
        "outcomes": [SOLD, {"conversationId": "c-2", "outcomeKey": "renewal"}],
    }


def test_the_camel_case_name_of_the_spec_is_the_same_function():
    assert reportOutcomes is report_outcomes


def test_without_an_environment_the_member_is_absent():
    with ScriptedHub(answer_stored(1)) as hub:
        report_outcomes(KEY, [SOLD], base_url=hub.url)
    assert "environment" not in hub.received[0].json


def test_other_members_of_an_item_are_not_sent():
    with ScriptedHub(answer_stored(1)) as hub:
        report_outcomes(KEY, [{**SOLD, "email": "ann@example.com"}], base_url=hub.url)
    assert hub.received[0].json["outcomes"] == [SOLD]


@pytest.mark.parametrize(
    "item",
    [{}, {"conversationId": "c-1"}, {"conversationId": "", "outcomeKey": 5}, (None, "x"), ("é\ud800", "☃")],
)
def test_values_are_validated_by_the_hub(item):
    with (
        ScriptedHub(problem(400, "invalid-request", "Look.")) as hub,
        pytest.raises(ReportError, match=r"Look\."),
    ):
        report_outcomes(KEY, [item], base_url=hub.url)
    assert len(hub.received) == 1


def test_characters_beyond_ascii_arrive_exactly():
    with ScriptedHub(answer_stored(1)) as hub:
        report_outcomes(KEY, [(" Çé😀 ", "käse")], base_url=hub.url)
    assert hub.received[0].json["outcomes"] == [{"conversationId": " Çé😀 ", "outcomeKey": "käse"}]


@pytest.mark.parametrize(
    ("count", "sizes"), [(0, [0]), (1, [1]), (500, [500]), (501, [500, 1]), (1200, [500, 500, 200])]
)
def test_any_iterable_is_split_at_500_in_order(count, sizes):
    with ScriptedHub(answer_stored(0)) as hub:
        report_outcomes(KEY, iter(make_outcomes(count)), base_url=hub.url)
    chunks = [request.json["outcomes"] for request in hub.received]
    assert [len(chunk) for chunk in chunks] == sizes
    assert [(item["conversationId"], item["outcomeKey"]) for chunk in chunks for item in chunk] == make_outcomes(count)


def test_the_receipt_sums_what_is_recorded_and_names_each_unknown_conversation_once_in_order():
    with ScriptedHub(answer_stored(498, "b", "a"), answer_stored(499, "c", "b"), answer_stored(3)) as hub:
        receipt = report_outcomes(KEY, make_outcomes(1003), base_url=hub.url)
    assert receipt == OutcomeReceipt(recorded=1000, unknown_conversations=("b", "a", "c"))


def test_an_idempotency_key_is_kept_over_retries_and_new_for_each_chunk_and_call():
    with ScriptedHub(reset(), answer(503), answer_stored(500), answer_stored(1)) as hub:
        report_outcomes(KEY, make_outcomes(501), transport=impatient(hub.url))
        report_outcomes(KEY, make_outcomes(1), transport=impatient(hub.url))
    keys = [request.headers["idempotency-key"] for request in hub.received]
    assert keys[0] == keys[1] == keys[2]
    assert len(set(keys)) == 3
    assert len({request.body for request in hub.received[:3]}) == 1


def test_when_a_later_chunk_fails_the_error_tells_how_many_items_were_delivered():
    errors = [{"pointer": "/outcomes/7/outcomeKey", "code": "required", "detail": "Give it."}]
    with ScriptedHub(
        answer_stored(500), answer_stored(500), problem(400, "invalid-request", "Look.", errors=errors)
    ) as hub:
        with pytest.raises(ReportError, match="1000 delivered before") as caught:
            report_outcomes(KEY, make_outcomes(1500), base_url=hub.url)
        assert len(hub.received) == 3
    assert caught.value.sent == 1000
    assert caught.value.errors == (Fault("/outcomes/1007/outcomeKey", "required", "Give it."),)


@pytest.mark.parametrize(
    ("key", "code"),
    [(None, "missing-api-key"), ("", "missing-api-key"), (make_key("pk_"), "publishable-key-refused")],
    ids=["none", "empty", "publishable"],
)
def test_an_impossible_key_is_reported_before_anything_is_sent(key, code):
    with ScriptedHub(answer_stored(1)) as hub:
        with pytest.raises(ReportError) as caught:
            report_outcomes(key, [SOLD], base_url=hub.url)
        assert hub.received == []
    assert caught.value.code == code


@pytest.mark.parametrize("item", ["ab", b"ab", ("c-1",), ("c-1", "a", "b"), None, 5, {"c-1", "purchase"}])
def test_a_malformed_item_is_reported_by_its_index_before_anything_is_sent(item):
    with ScriptedHub(answer_stored(1)) as hub:
        with pytest.raises(ReportError, match="/outcomes/600") as caught:
            report_outcomes(KEY, [*make_outcomes(600), item], base_url=hub.url)
        assert hub.received == []
    assert caught.value.code == "invalid-request"


@pytest.mark.parametrize(
    "wrong",
    [None, 5, "", "c-1", b"", {}, SOLD, object()],
    ids=["null", "number", "empty-text", "text", "bytes", "empty-object", "one-outcome", "object"],
)
def test_a_value_that_is_no_list_is_reported_before_anything_is_sent(wrong):
    with ScriptedHub(answer_stored(1)) as hub:
        with pytest.raises(ReportError, match="Give a list of outcomes") as caught:
            report_outcomes(KEY, wrong, base_url=hub.url)
        assert hub.received == []
    assert (caught.value.code, caught.value.errors[0].pointer) == ("invalid-request", "/outcomes")


@pytest.mark.parametrize("value", [object(), b"c", float("nan"), float("-inf"), [float("inf")]])
def test_a_value_that_json_cannot_carry_is_reported_before_anything_is_sent(value):
    with ScriptedHub(answer_stored(1)) as hub:
        with pytest.raises(ReportError, match=r"/outcomes/601: .* as str") as caught:
            report_outcomes(KEY, [*make_outcomes(601), ("c", value), *make_outcomes(600)], base_url=hub.url)
        assert hub.received == []
    assert (caught.value.code, caught.value.sent) == ("invalid-request", 0)


@pytest.mark.parametrize(
    "body",
    [[], {}, {"recorded": "1", "unknownConversations": []}, {"recorded": True, "unknownConversations": []}],
)
def test_a_200_that_is_no_receipt_is_an_error(body):
    with ScriptedHub(answer(200, body)) as hub, pytest.raises(ReportError) as caught:
        report_outcomes(KEY, [SOLD], base_url=hub.url)
    assert caught.value.code == "bad-answer"


def test_successive_calls_share_a_connection():
    with ScriptedHub(answer_stored(1)) as hub:
        for _ in range(3):
            report_outcomes(KEY, [SOLD], base_url=hub.url)
    assert len({request.connection for request in hub.received}) == 1
