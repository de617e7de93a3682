import gc
import subprocess
import sys
import threading
import time

import pytest
from any_machine import subprocess_environment
from support.scripted_hub import ScriptedHub, answer, problem, reset, silent

from affidavit import HubUnreachable, OutcomeCounts, OutcomeReporter, ReportError
from affidavit._hub.api_keys import make_key

KEY = make_key("gak_")


def answer_stored(recorded):
    return answer(200, {"recorded": recorded, "unknownConversations": []})


def all_recorded(handler):
    """Answer that all items of the request were recorded."""
    answer_stored(len(handler.server.received[-1].json["outcomes"]))(handler)


def ids(hub):
    return [item["conversationId"] for request in hub.received for item in request.json["outcomes"]]


@pytest.fixture
def reporter_for():
    reporters = []

    def make(hub, **options):
        reporter = OutcomeReporter(KEY, base_url=hub if isinstance(hub, str) else hub.url, **options)
        reporters.append(reporter)
        return reporter

    yield make
    for reporter in reporters:
        reporter.close(0)


def test_outcomes_arrive_in_batches_and_in_order(reporter_for):
    with ScriptedHub(all_recorded) as hub:
        reporter = reporter_for(hub, flush_every=0.05, environment="staging")
        assert all(reporter.report(f"c{n}", "purchase") for n in range(1200))
        assert reporter.flush(10)
        assert ids(hub) == [f"c{n}" for n in range(1200)]
        assert max(len(request.json["outcomes"]) for request in hub.received) <= 500
        assert {request.json["environment"] for request in hub.received} == {"staging"}
    assert reporter.counts == OutcomeCounts(reported=1200, delivered=1200, recorded=1200)


def test_a_single_outcome_is_sent_without_a_flush(reporter_for):
    with ScriptedHub(answer_stored(0)) as hub:
        reporter = reporter_for(hub, flush_every=0.02)
        reporter.report("c", "purchase")
        deadline = time.monotonic() + 5
        while not reporter.counts.delivered and time.monotonic() < deadline:
            time.sleep(0.01)
        assert reporter.counts == OutcomeCounts(reported=1, delivered=1)


@pytest.mark.parametrize(
    ("conversation_id", "key"),
    [("", "k"), ("x" * 256, "k"), ("c", "k" * 129), (None, "k"), (7, "k"), ("a\0", "k"), ("\ud800", "k"), ("c", b"k")],
)
def test_an_invalid_outcome_is_counted_and_logged_and_does_not_spoil_its_batch(
    reporter_for, conversation_id, key, caplog
):
    with ScriptedHub(answer_stored(1)) as hub:
        reporter = reporter_for(hub)
        assert not reporter.report(conversation_id, key)
        assert not reporter.report(conversation_id, key)
        assert reporter.report("😀" * 255, "é" * 128)
        assert reporter.flush(5)
    assert reporter.counts == OutcomeCounts(reported=3, delivered=1, recorded=1, undelivered=2)
    fault = "an outcome key is not text of 1 to 128"
    if conversation_id != "c":
        fault = "a conversation id is not text of 1 to 255"
    assert [record.getMessage() for record in caplog.records] == [f"outcomes are discarded: {fault} characters"]


def test_a_full_queue_neither_blocks_nor_grows_and_is_logged_once(reporter_for, caplog):
    with ScriptedHub(silent(2)) as hub:
        reporter = reporter_for(hub, capacity=600, timeout=5)
        began = time.monotonic()
        accepted = sum(reporter.report(f"c{n}", "k") for n in range(5000))
        assert time.monotonic() - began < 1
        counts = reporter.counts
    assert 600 <= accepted <= 1100
    assert counts.undelivered == 5000 - accepted
    assert caplog.text.count("the queue of 600 outcomes is full") == 1
    assert counts.waiting == accepted


@pytest.fixture
def no_thread_starts():
    start = threading.Thread.start

    def fail_for_reporter(thread):
        if thread.name == "affidavit-outcomes":
            raise RuntimeError("can't start new thread")
        start(thread)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading.Thread, "start", fail_for_reporter)
        yield patch


def test_outcomes_wait_while_no_thread_can_be_started(reporter_for, no_thread_starts):
    with ScriptedHub(all_recorded) as hub:
        reporter = reporter_for(hub, flush_every=0.01)
        assert reporter.report("c1", "k")
        assert reporter.counts == OutcomeCounts(reported=1, waiting=1)
        no_thread_starts.undo()
        assert reporter.report("c2", "k")
        assert reporter.flush(10)
        assert ids(hub) == ["c1", "c2"]


def test_closing_sends_outcomes_if_no_thread_could_ever_be_started(reporter_for, no_thread_starts):
    with ScriptedHub(all_recorded) as hub:
        reporter = reporter_for(hub)
        assert reporter.report("c1", "k")
        reporter.close()
        assert ids(hub) == ["c1"]
    assert reporter.counts == OutcomeCounts(reported=1, delivered=1, recorded=1)


def test_a_retry_has_the_same_idempotency_key(reporter_for):
    refused = problem(503, "unavailable", "Try later.")
    with ScriptedHub(reset(), refused, refused, answer_stored(1)) as hub:
        reporter = reporter_for(hub)
        reporter.report("c", "k")
        assert reporter.flush(20)
    assert len(hub.received) == 4
    assert len({(request.headers["idempotency-key"], request.body) for request in hub.received}) == 1
    assert reporter.counts.delivered == 1


def test_the_log_counts_one_lost_outcome_in_the_singular(reporter_for, caplog):
    with ScriptedHub(problem(400, "unknown-environment", "No.")) as hub:
        reporter = reporter_for(hub)
        reporter.report("a", "k")
        assert reporter.flush(5)
    assert "1 outcome was not reported: No. (unknown-environment" in caplog.text


def test_a_refusal_costs_its_batch_only_and_is_reported_once(reporter_for):
    errors = []
    with ScriptedHub(problem(400, "unknown-environment", "No."), answer_stored(1)) as hub:
        reporter = reporter_for(hub, on_error=errors.append)
        reporter.report("a", "k")
        assert reporter.flush(5)
        reporter.report("b", "k")
        assert reporter.flush(5)
    assert [error.code for error in errors] == ["unknown-environment"]
    assert reporter.counts == OutcomeCounts(reported=2, delivered=1, recorded=1, undelivered=1)


def test_a_failing_error_handler_or_transport_does_not_end_the_thread(caplog):
    class Broken:
        calls = 0

        def post_json(self, path, body, headers):
            Broken.calls += 1
            if Broken.calls == 1:
                raise KeyError("secret")
            return {"recorded": 1, "unknownConversations": []}

    def fail(error: ReportError) -> None:
        raise RuntimeError(error.code)

    reporter = OutcomeReporter(KEY, transport=Broken(), on_error=fail)
    reporter.report("a", "k")
    assert reporter.flush(5)
    reporter.report("b", "k")
    assert reporter.flush(5)
    assert reporter.counts == OutcomeCounts(reported=2, delivered=1, recorded=1, undelivered=1)
    assert "secret" not in caplog.text.partition("Traceback")[0]


def test_closing_gives_up_after_its_timeout_and_counts_the_rest(caplog):
    class Away:
        def post_json(self, path, body, headers):
            raise HubUnreachable("No answer.", code="unreachable")

    reporter = OutcomeReporter(KEY, transport=Away(), flush_every=0.01)
    for n in range(700):
        reporter.report(f"c{n}", "k")
    began = time.monotonic()
    assert not reporter.close(0.3)
    assert time.monotonic() - began < 2
    assert reporter.counts == OutcomeCounts(reported=700, undelivered=700)
    assert "700 outcomes were not reported" in caplog.text
    assert not reporter.report("late", "k")
    assert "outcomes are discarded: the reporter is closed" in caplog.text


def test_after_closing_no_thread_works_on_what_was_given_up():
    is_away = threading.Event()

    class Slow:
        def post_json(self, path, body, headers):
            is_away.wait(10)
            raise HubUnreachable("No answer.", code="unreachable")

    others = set(threading.enumerate())
    reporter = OutcomeReporter(KEY, transport=Slow(), flush_every=0.01)
    for n in range(1200):
        reporter.report(f"c{n}", "k")
    assert not reporter.close(0.1)  # the first batch is being sent, and two more are queued
    is_away.set()
    (thread,) = (thread for thread in threading.enumerate() if thread not in others)
    thread.join(5)
    assert not thread.is_alive()


def test_many_threads_neither_lose_nor_repeat_an_outcome(reporter_for):
    with ScriptedHub(all_recorded) as hub:
        reporter = reporter_for(hub, flush_every=0.01)

        def run(name):
            for n in range(500):
                assert reporter.report(f"{name}-{n}", "k")

        threads = [threading.Thread(target=run, args=(name,)) for name in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert reporter.flush(20)
        assert sorted(ids(hub)) == sorted(f"{name}-{n}" for name in range(6) for n in range(500))


@pytest.mark.parametrize(("key", "url"), [("pk_x", "http://x"), (None, "http://x"), (KEY, "ftp://x")])
def test_invalid_options_are_refused_at_once(key, url):
    with pytest.raises(ReportError):
        OutcomeReporter(key, base_url=url)


PROGRAM = """
import os, sys
from affidavit import OutcomeReporter
reporter = OutcomeReporter(os.environ["KEY"], base_url=os.environ["HUB"], flush_every=30)
reporter.report("parent", "k")
if sys.argv[1] == "fork":
    child = os.fork()
    if child == 0:
        assert reporter.counts.reported == 0
        reporter.report("child", "k")
        reporter.close(10)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
if sys.argv[1] == "raise":
    raise SystemExit(3)
"""


def run_program(hub, ending):
    environment = subprocess_environment(KEY=KEY, HUB=hub.url)
    return subprocess.run([sys.executable, "-c", PROGRAM, ending], env=environment, timeout=30, check=False).returncode


@pytest.mark.parametrize(("ending", "status"), [("plain", 0), ("raise", 3)])
def test_the_end_of_the_process_sends_the_queue(ending, status):
    with ScriptedHub(answer_stored(1)) as hub:
        assert run_program(hub, ending) == status
        assert ids(hub) == ["parent"]


def test_a_forked_child_sends_only_its_own_outcomes():
    with ScriptedHub(answer_stored(1)) as hub:
        assert run_program(hub, "fork") == 0
        assert sorted(ids(hub)) == ["child", "parent"]


def test_an_unreferenced_reporter_lives_until_it_has_delivered():
    with ScriptedHub(answer_stored(1)) as hub:
        OutcomeReporter(KEY, base_url=hub.url, flush_every=0.1).report("c", "k")
        gc.collect()
        deadline = time.monotonic() + 5
        while not hub.received and time.monotonic() < deadline:
            time.sleep(0.01)
        assert ids(hub) == ["c"]
