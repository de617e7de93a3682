import json
import logging
import os
import subprocess
import sys
import threading
import time

import pytest
from any_machine import subprocess_environment
from support.scripted_hub import ScriptedHub, answer, problem
from support.signed_calls import make_protection

from affidavit import REASONS, Call, HubUnreachable, ReportError, VerificationReports, make_key
from affidavit._hub.reporter import EXIT_PATIENCE
from affidavit._paths.reported_operations import make_sendable

KEY = make_key("gak_")
AT = 1_700_000_100.0  # the beginning of a quarter of an hour
NEVER = 3600.0
TAKEN = answer(200, {"recorded": 1})


class Hub:
    """A transport that records requests and raises the given failures first."""

    def __init__(self, *failures):
        self.bodies, self.failures = [], list(failures)

    def post_json(self, path, body, headers):
        if self.failures and (failure := self.failures.pop(0)):
            raise failure
        assert path == "/api/verification-reports"
        self.bodies.append(body)
        return {"recorded": 1}

    @property
    def entries(self):
        return [item for body in self.bodies for item in json.loads(body)["verifications"]]


def reporter(hub=None, **options):
    return VerificationReports(KEY, transport=hub or Hub(), **{"every": NEVER, **options})


def test_accepted_calls_are_reported_as_counts_and_rejected_calls_one_by_one():
    reports = reporter(hub := Hub())
    for number in range(3):
        reports.add("accepted", version=2, operation="GET /a", tool_call_id=f"c{number}", at=AT + number)
        reports.add("expired", version=2, operation="GET /a", tool_call_id=f"c{number}", at=AT)
    reports.add("missing-header", operation="GET /a", at=AT)
    assert reports.flush()
    expired = {"result": "expired", "count": 1, "occurredAt": int(AT), "version": 2, "operation": "GET /a"}
    assert hub.entries == [
        {"result": "accepted", "count": 3, "occurredAt": int(AT) + 2, "version": 2, "operation": "GET /a"},
        *({**expired, "toolCallId": f"c{number}"} for number in range(3)),
        {"result": "missing-header", "count": 1, "occurredAt": int(AT), "operation": "GET /a"},
    ]  # fmt: skip
    assert reports.flush()
    assert len(hub.bodies) == 1


def test_accepted_calls_name_eight_characters_of_their_secret_and_rejected_calls_none():
    reports = reporter(hub := Hub())
    secret = "gas_" + "k" * 43
    for _ in range(2):
        reports.add("accepted", version=2, at=AT, secret=secret)
    reports.add("accepted", version=2, at=AT)
    reports.add("expired", version=2, at=AT, secret=secret)
    reports.flush()
    assert [(item["result"], item["count"], item.get("secret")) for item in hub.entries] == [
        ("accepted", 2, "gas_kkkk"), ("accepted", 1, None), ("expired", 1, None),
    ]  # fmt: skip
    assert secret[8:] not in str(hub.bodies)


def test_methods_that_a_stranger_invents_name_a_hundred_operations_at_most():
    """Function views of Django, for one, answer any method."""
    reports = reporter(hub := Hub())
    reports.add("missing-header", operation="PROPFIND /a", at=AT)
    for number in range(300):
        reports.add("missing-header", operation=f"X{number} /a", at=AT)
        reports.add("accepted", operation=f"Y{number} /a", at=AT)
    for operation in ("PROPFIND /a", "GET /a", "orders.cancel"):
        reports.add("expired", operation=operation, at=AT)
    reports.flush()
    rejected = [item for item in hub.entries if item["result"] == "missing-header"]
    assert sum(item["count"] for item in rejected) == 301
    assert sum("operation" in item for item in rejected) == 100
    assert sum("operation" in item for item in hub.entries if item["result"] == "accepted") == 300
    expired = [item["operation"] for item in hub.entries if item["result"] == "expired"]
    assert expired == ["PROPFIND /a", "GET /a", "orders.cancel"]


@pytest.mark.parametrize("moment", [0.0, AT + 10 * 86_400])
def test_a_clock_that_was_wrong_costs_no_report(moment, monkeypatch):
    reports = reporter(hub := Hub())
    monkeypatch.setattr("time.time", lambda: moment)
    reports.add("accepted", version=2)
    monkeypatch.setattr("time.time", lambda: AT)
    reports.add("accepted", version=2)
    reports.flush()
    assert sorted((item["count"], item["occurredAt"]) for item in hub.entries) == [(1, AT), (1, AT)]


def test_counts_are_kept_per_quarter_of_an_hour():
    reports = reporter(hub := Hub())
    for moment in (AT - 1, AT, AT + 899, AT + 900):
        reports.add("accepted", version=2, operation="GET /a", at=moment)
    reports.flush()
    assert [(item["count"], item["occurredAt"] - AT) for item in hub.entries] == [(1, -1), (2, 899), (1, 900)]


def test_reports_go_in_batches_of_500_with_an_id_each():
    reports = reporter(hub := Hub(), environment="staging")
    for number in range(1100):
        reports.add("expired", operation="GET /a", tool_call_id=str(number), at=AT)
    reports.flush()
    documents = [json.loads(body) for body in hub.bodies]
    assert [len(document["verifications"]) for document in documents] == [500, 500, 100]
    assert {document["environment"] for document in documents} == {"staging"}
    assert len({document["reportId"] for document in documents}) == 3


def test_an_unreachable_hub_gets_the_same_bytes_later_and_nothing_is_lost():
    away = HubUnreachable("away", code="unreachable")
    refusing = ReportError("busy", code="rate-limited", status=429)
    reports = reporter(hub := Hub(away, refusing, ReportError("down", status=503)))
    reports.add("accepted", version=2, operation="GET /a", at=AT)
    for _ in range(3):
        assert not reports.flush()
        reports.add("accepted", version=2, operation="GET /a", at=AT)
    assert reports.flush()
    assert sum(item["count"] for item in hub.entries) == 4
    assert reports.dropped == 0


def test_a_redelivery_repeats_id_and_bytes_over_real_http():
    with ScriptedHub(problem(503, "unavailable", "away"), TAKEN) as hub:
        reports = VerificationReports(KEY, base_url=hub.url, every=NEVER)
        reports.add("accepted", version=2, operation="GET /a")
        assert reports.flush()
        first, second = hub.received
        assert (first.body, first.path) == (second.body, "/api/verification-reports")
        assert first.headers["x-service-api-key"] == KEY


@pytest.mark.parametrize(
    "failure", [ReportError("no such environment", code="unknown-environment", status=400), OSError()]
)
def test_a_report_that_is_refused_for_good_is_counted_and_logged(failure, caplog):
    reports = reporter(hub := Hub(failure))
    for _ in range(7):
        reports.add("accepted", version=2, operation="GET /a", at=AT)
    with caplog.at_level(logging.WARNING, "affidavit.reports"):
        reports.flush()
    assert (reports.dropped, hub.bodies) == (7, [])
    assert "7 verifications were not reported" in caplog.text
    assert KEY not in caplog.text
    reports.add("accepted", version=2, operation="GET /a", at=AT)
    assert reports.flush()
    assert len(hub.entries) == 1


def test_beyond_the_limit_details_are_lost_but_counts_are_kept():
    reports = reporter(hub := Hub(), limit=10)
    for number in range(200):
        reports.add("expired", version=2, operation=f"GET /{number}", tool_call_id=str(number), at=AT)
    reports.flush()
    assert sum(item["count"] for item in hub.entries) == 200
    assert hub.entries[-1] == {"result": "expired", "count": 190, "occurredAt": int(AT)}
    assert reports.dropped == 0


def test_verifications_beyond_the_limit_of_counts_are_counted_as_dropped():
    """Beyond `limit` entries, details are lost. Beyond twice as many, verifications are lost."""
    reports = reporter(limit=2)
    for number in range(10):
        reports.add("expired", at=AT + 900 * number)
    assert reports.dropped == 6


def test_a_tool_call_id_that_the_hub_would_refuse_is_left_out():
    reports = reporter(hub := Hub())
    reports.add("expired", tool_call_id="x" * 256, at=AT)
    reports.add("expired", tool_call_id="", at=AT)
    reports.flush()
    assert hub.entries == [{"result": "expired", "count": 2, "occurredAt": int(AT)}]


@pytest.mark.parametrize("result", ["no-such-reason", "Accepted", "", None, [], 5])
def test_an_unknown_result_is_dropped_and_spoils_no_report(result, caplog):
    reports = reporter(hub := Hub())
    reports.add("accepted", at=AT)
    with caplog.at_level(logging.WARNING, "affidavit.reports"):
        reports.add(result, at=AT)
    assert reports.flush()
    assert hub.entries == [{"result": "accepted", "count": 1, "occurredAt": int(AT)}]
    assert (reports.dropped, len(caplog.records)) == (1, 1)


@pytest.mark.parametrize("facts", [
    {"version": 3}, {"version": True}, {"version": "2"}, {"secret": "gas_a/b+" + "c" * 40}, {"secret": "secret" * 9},
    {"secret": "gas_abc"}, {"operation": ""},
])  # fmt: skip
def test_a_fact_that_the_hub_would_refuse_is_left_out(facts):
    reports = reporter(hub := Hub())
    reports.add("accepted", at=AT, **facts)
    assert reports.flush()
    assert hub.entries == [{"result": "accepted", "count": 1, "occurredAt": int(AT)}]


@pytest.mark.parametrize("text", ["GET /a\0", "GET /\ud800", "GET /" + "a" * 300])
def test_a_text_that_the_hub_would_refuse_is_made_sendable_or_left_out(text):
    reports = reporter(hub := Hub())
    reports.add("expired", at=AT, operation=text, tool_call_id=text)
    assert reports.flush()
    (item,) = hub.entries
    assert item.keys() == {"result", "count", "occurredAt", "operation"}
    assert item["operation"] == make_sendable(text)


def test_a_reporter_sends_in_the_background_from_one_thread():
    def running():
        return sum(thread.name == "affidavit-reports" for thread in threading.enumerate())

    with ScriptedHub(TAKEN) as hub:
        before, reports = running(), VerificationReports(KEY, base_url=hub.url, every=0.02)
        deadline = time.monotonic() + 10
        while len(hub.received) < 2 and time.monotonic() < deadline:
            reports.add("accepted", version=2, operation="GET /a")
            time.sleep(0.005)
        assert len(hub.received) >= 2
        assert running() == before + 1
        reports.close()
        assert running() == before


def test_a_silent_hub_never_makes_the_host_wait():
    blocked, over = threading.Event(), threading.Event()

    class Silent(Hub):
        def post_json(self, path, body, headers):
            blocked.set()
            over.wait(2)
            raise HubUnreachable("away", code="unreachable")

    reports = reporter(Silent(), every=0.001)
    reports.add("accepted", at=AT)
    assert blocked.wait(5)
    before = time.monotonic()
    for _ in range(1000):
        reports.add("accepted", at=AT)
    assert time.monotonic() - before < 0.5
    for _ in range(2):
        reports.close(timeout=0.01)
        assert reports.dropped == 1001
    over.set()
    reports._background._thread.join(5)
    assert reports.dropped == 1001


SCRIPT = """
import os, sys, time
from affidavit import VerificationReports
reports = VerificationReports(sys.argv[1], base_url=sys.argv[2], every=3600)
{body}
"""


def run(body, url):
    command = [sys.executable, "-c", SCRIPT.format(body=body), KEY, url]
    environment = subprocess_environment()
    return subprocess.run(command, check=True, timeout=30, env=environment, stdout=subprocess.PIPE, text=True).stdout


def counts(hub):
    items = [item for received in hub.received for item in received.json["verifications"]]
    return sorted((item["operation"], item["count"]) for item in items)


def test_the_rest_is_sent_when_the_process_ends():
    with ScriptedHub(TAKEN) as hub:
        run("for _ in range(3): reports.add('accepted', operation='GET /a')", hub.url)
        assert counts(hub) == [("GET /a", 3)]


def test_the_end_of_the_process_waits_for_a_report_that_is_being_built(monkeypatch):
    reports, began, build = reporter(hub := Hub()), threading.Event(), VerificationReports._build_report

    def build_slowly(*arguments):
        began.set()
        time.sleep(0.3)
        return build(*arguments)

    monkeypatch.setattr(VerificationReports, "_build_report", build_slowly)
    reports.add("accepted", at=AT)
    reports._background.wake()
    assert began.wait(5)
    reports._settle(EXIT_PATIENCE)
    assert [item["count"] for item in hub.entries] == [1]


def test_a_report_that_is_being_built_when_a_close_gives_up_is_counted_as_dropped(monkeypatch, caplog):
    reports, began, go_on = reporter(hub := Hub()), threading.Event(), threading.Event()
    build = VerificationReports._build_report

    def build_slowly(*arguments):
        began.set()
        go_on.wait(5)
        return build(*arguments)

    monkeypatch.setattr(VerificationReports, "_build_report", build_slowly)
    reports.add("accepted", at=AT)
    reports._background.wake()
    assert began.wait(5)
    reports.close(timeout=0.01)
    assert reports.dropped == 1
    assert "1 verification was not reported: the process ended before the delivery" in caplog.text
    go_on.set()
    reports._background._thread.join(5)
    assert not hub.entries


def test_the_end_of_the_process_waits_a_few_seconds_at_most():
    with ScriptedHub(lambda handler: time.sleep(20)) as hub:
        ending_since = run("reports.add('accepted', operation='GET /a'); print(time.monotonic())", hub.url)
        assert time.monotonic() - float(ending_since) < 10


def test_after_a_fork_parent_and_child_each_send_their_own_reports():
    forked = """
for _ in range(2): reports.add('accepted', operation='GET /before')
child = os.fork()
for _ in range(3): reports.add('accepted', operation='GET /child' if not child else 'GET /parent')
if child: os.waitpid(child, 0)
"""
    with ScriptedHub(TAKEN) as hub:
        run(forked, hub.url)
        assert counts(hub) == [("GET /before", 2), ("GET /child", 3), ("GET /parent", 3)]


def test_a_fork_while_the_lock_is_held_does_not_block_the_child():
    reports = reporter()
    with reports._lock:
        child = os.fork()
        if not child:
            reports.add("accepted", at=AT)
            os._exit(0 if reports._count_unsent() == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("key", [None, "", "pk_x", "gak with space"])
def test_an_impossible_key_is_refused_at_start(key):
    with pytest.raises(ReportError):
        VerificationReports(key)


def test_a_protection_reports_rejected_calls_by_their_route_and_never_by_their_path():
    guard = make_protection(reports=(reports := reporter(hub := Hub())))
    guard.admit(Call(None, "get", "/orders/17", "a=1", b"", None, route=lambda: "/orders/{id}"))
    guard.admit(Call("x", "GET", "/customers/7/orders/17", "", b"", None))
    reports.flush()
    assert [(item["result"], item.get("operation")) for item in hub.entries] == [
        ("missing-header", "GET /orders/{id}"),
        ("malformed", None),
    ]
    assert {item["result"] for item in hub.entries} <= REASONS.keys()
