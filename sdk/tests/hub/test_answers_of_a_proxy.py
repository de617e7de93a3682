"""No report is lost if a proxy answers in place of the hub, or if the connection breaks."""

import json
import threading
import time

import pytest
from support.scripted_hub import ScriptedHub, answer, problem, reset
from support.witness_hub import wait_until

from affidavit import OutcomeReporter, VerificationReports, Witness, make_key, report_outcomes

KEY = make_key("gak_")
STORED = {"recorded": 1, "accepted": 1, "rules": [], "unknownConversations": []}
HTML = "text/html; charset=utf-8"
STRANGERS = {
    "a page": answer(200, b"<html>It works</html>", Content_Type=HTML),
    "a page that is JSON": answer(200, STORED, Content_Type=HTML),
    "nothing": answer(204, b""),
    "other JSON": answer(200, {"ok": True}),
    "a list": answer(200, []),
    "a wrong key": problem(401, "invalid-api-key", "No."),
    "a missing scope": problem(403, "scope-missing", "No."),
    "a redirect": answer(307, b"", Location="https://login.example.com/"),
    "a moved address": answer(301, b"", Location="https://hub.example.com/"),
    "a wrong path": answer(404, b"not found"),
    "a wrong method": answer(405, b""),
    "a proxy's 400": answer(400, b"<html>Bad Request</html>"),
    "a slow body": problem(408, "body-too-slow", "No."),
    "a reset": reset(),
}


def send_outcome(hub):
    reporter = OutcomeReporter(KEY, base_url=hub.url, flush_every=0.01)
    reporter.report("c", "k")
    return reporter, lambda: reporter.counts.delivered == 1


def send_verification(hub):
    reporter = VerificationReports(KEY, base_url=hub.url, every=0.05)
    reporter.add("accepted", operation="GET /x")
    return reporter, lambda: reporter._outbox.delivered_weight == 1


def send_shape(hub):
    reporter = Witness(KEY, base_url=hub.url, interval=0.05, rules=False)
    reporter.observe("GET", "/x", 200, route="/x")
    return reporter, lambda: reporter.stats.delivered == 1


@pytest.mark.parametrize("send", [send_outcome, send_verification, send_shape])
@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_proxy_that_answers_in_place_of_the_hub_destroys_no_report(send, stranger, caplog):
    with ScriptedHub(*[STRANGERS[stranger]] * 2, answer(200, STORED)) as hub:
        reporter, is_delivered = send(hub)
        assert wait_until(is_delivered, 20)
        reporter.close(1)
    assert len({(request.body, request.headers.get("idempotency-key")) for request in hub.received}) == 1
    lines = [record.getMessage() for record in caplog.records]
    assert [("kept and sent again" in line, "can be reached again" in line) for line in lines] == [
        (True, False), (False, True)
    ], lines  # fmt: skip


@pytest.mark.parametrize("refusal", [
    problem(400, "invalid-request", "No."), problem(422, "idempotency-key-reused", "No."), answer(413, b"<html>"),
])  # fmt: skip
def test_a_report_that_the_hub_refuses_for_its_content_is_not_sent_again(refusal):
    with ScriptedHub(refusal, answer(200, STORED)) as hub:
        errors = []
        reporter = OutcomeReporter(KEY, base_url=hub.url, on_error=errors.append)
        reporter.report("c", "k")
        assert reporter.flush(10)
        assert (len(errors), reporter.counts.undelivered, len(hub.received)) == (1, 1, 1)
        reporter.close(0)


def test_report_outcomes_keeps_trying_after_six_broken_connections():
    """By default a transport gives up after five tries."""
    started = threading.Event()

    def away_for_a_while(handler):
        started.set()
        reset()(handler)

    with ScriptedHub(*[away_for_a_while] * 6, answer(200, STORED)) as hub:
        began = time.monotonic()
        assert report_outcomes(KEY, [("c", "k")], base_url=hub.url).recorded == 1
        assert time.monotonic() - began < 60
    assert len({request.headers["idempotency-key"] for request in hub.received}) == 1
    assert json.loads(hub.received[-1].body)["outcomes"] == [{"conversationId": "c", "outcomeKey": "k"}]
