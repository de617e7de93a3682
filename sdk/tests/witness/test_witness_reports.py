import json
import uuid

import pytest
from support.scripted_hub import ScriptedHub, answer, problem, reset

from affidavit._errors import ReportError
from affidavit._hub.api_keys import make_key
from affidavit._hub.transport import HttpTransport
from affidavit._witness.witness_reports import make_content_report_id, send_observations

KEY = make_key("gak_")
ACCEPTED = answer(202, {"accepted": 1, "reportId": "x"})


def observation(number=0, count=1, filler=""):
    shape = {"type": "object", "properties": {f"naïve{filler}": {"type": "string"}}}
    return {"method": "GET", "path": f"/things/p{number}", "status": 200, "count": count, "response": shape}


def make_observations(count):
    return [observation(number) for number in range(count)]


def test_a_report_has_an_id_the_environment_and_the_observations():
    with ScriptedHub(ACCEPTED) as hub:
        receipt = send_observations([observation(count=3)], api_key=KEY, base_url=hub.url, environment="staging")
    (request,) = hub.received
    assert request.path == "/api/witness-reports"
    assert request.headers["x-service-api-key"] == KEY
    assert request.json == {
        "reportId": receipt.report_ids[0],
        "environment": "staging",
        "observations": [observation(count=3)],
    }
    assert (receipt.observations, receipt.entries) == (3, 1)


def test_the_hub_is_the_one_that_the_environment_variable_names_at_each_call(monkeypatch):
    with ScriptedHub(ACCEPTED) as first, ScriptedHub(ACCEPTED) as second:
        for hub in (first, second):
            monkeypatch.setenv("AFFIDAVIT_HUB", hub.url)
            send_observations(make_observations(1), api_key=KEY)
    assert (len(first.received), len(second.received)) == (1, 1)


def test_only_literal_segments_are_sent_as_undecided():
    paths = {"/a({b})/c": [0, 1], "/a/({b})": [1], "/a/b": [0, 1]}
    with ScriptedHub(ACCEPTED) as hub:
        entries = [{**observation(), "path": path, "undecided": indexes} for path, indexes in paths.items()]
        send_observations(entries, api_key=KEY, base_url=hub.url)
    assert [entry.get("undecided") for entry in hub.received[0].json["observations"]] == [[1], None, [0, 1]]


def test_without_an_environment_the_member_is_absent():
    with ScriptedHub(ACCEPTED) as hub:
        send_observations(make_observations(1), api_key=KEY, base_url=hub.url)
    assert set(hub.received[0].json) == {"reportId", "observations"}


def test_without_observations_no_request_is_sent():
    with ScriptedHub(ACCEPTED) as hub:
        assert send_observations([], api_key=KEY, base_url=hub.url).report_ids == ()
        assert hub.received == []


@pytest.mark.parametrize(("count", "sizes"), [(500, [500]), (501, [500, 1]), (1001, [500, 500, 1])])
def test_reports_hold_at_most_500_observations(count, sizes):
    with ScriptedHub(ACCEPTED) as hub:
        send_observations(iter(make_observations(count)), api_key=KEY, base_url=hub.url)
    assert [len(request.json["observations"]) for request in hub.received] == sizes
    assert [entry for request in hub.received for entry in request.json["observations"]] == make_observations(count)


def test_reports_stay_below_4_mib():
    wide = [observation(number, filler="é" * 300_000) for number in range(20)]
    with ScriptedHub(ACCEPTED) as hub:
        send_observations(wide, api_key=KEY, base_url=hub.url, environment="e" * 100)
    assert all(len(request.body) <= 4 * 1024 * 1024 for request in hub.received)
    assert [len(request.json["observations"]) for request in hub.received] == [6, 6, 6, 2]


def test_report_ids_are_new_for_every_report_by_default():
    with ScriptedHub(ACCEPTED) as hub:
        for _ in range(2):
            send_observations(make_observations(1), api_key=KEY, base_url=hub.url)
    first, second = (uuid.UUID(request.json["reportId"]) for request in hub.received)
    assert first != second


def test_equal_content_has_equal_ids_and_bytes_and_different_content_has_not():
    def send(observations, environment):
        with ScriptedHub(ACCEPTED) as hub:
            send_observations(
                observations,
                api_key=KEY,
                base_url=hub.url,
                environment=environment,
                report_id=make_content_report_id,
            )
        return [request.body for request in hub.received]

    assert send(make_observations(600), "staging") == send(make_observations(600), "staging")
    bodies = [
        *send(make_observations(600), "staging"),
        *send(make_observations(600), "other"),
        *send(make_observations(600), None),
        *send(make_observations(599), None),
    ]
    ids = [uuid.UUID(json.loads(body)["reportId"]) for body in bodies]
    assert len(set(ids)) == len(set(bodies)) == 7  # the last two lists have the same first 500


def test_a_retry_sends_the_same_report_again():
    with ScriptedHub(reset(), answer(503), ACCEPTED) as hub:
        transport = HttpTransport(hub.url, sleep=lambda _: None)
        send_observations(make_observations(3), api_key=KEY, transport=transport)
    assert len(hub.received) == 3
    assert len({request.body for request in hub.received}) == 1


def test_a_refusal_tells_how_many_observations_were_delivered_before():
    with ScriptedHub(ACCEPTED, problem(400, "invalid-request", "Look.")) as hub:
        with pytest.raises(ReportError, match=r"Look\.") as caught:
            send_observations(make_observations(1200), api_key=KEY, base_url=hub.url)
        assert len(hub.received) == 2
    assert caught.value.sent == 500


@pytest.mark.parametrize(
    "moment", [float("nan"), float("inf"), "\ud800", object()], ids=["nan", "inf", "half", "object"]
)
def test_an_observation_that_json_cannot_carry_is_named_and_not_sent(moment):
    observations = make_observations(600)
    observations[550]["firstSeenAt"] = moment
    with ScriptedHub(ACCEPTED) as hub:
        with pytest.raises(ReportError) as caught:
            send_observations(observations, api_key=KEY, base_url=hub.url)
        assert len(hub.received) == 1
    assert (caught.value.code, caught.value.sent) == ("invalid-request", 500)
    assert [fault.pointer for fault in caught.value.errors] == ["/observations/550"]


@pytest.mark.parametrize("body", [[], {}, {"recorded": 1}])
def test_a_202_that_is_no_receipt_is_an_error(body):
    with ScriptedHub(answer(202, body)) as hub, pytest.raises(ReportError) as caught:
        send_observations(make_observations(1), api_key=KEY, base_url=hub.url)
    assert caught.value.code == "bad-answer"


def test_a_publishable_key_is_reported_before_anything_is_sent():
    with ScriptedHub(ACCEPTED) as hub:
        with pytest.raises(ReportError) as caught:
            send_observations(make_observations(1), api_key=make_key("pk_"), base_url=hub.url)
        assert hub.received == []
    assert caught.value.code == "publishable-key-refused"
