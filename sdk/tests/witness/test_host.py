"""A live witness never delays its host or raises into it, and reports after a fork and at the end of the process."""

import itertools
import os
import subprocess
import sys
import threading
import time

import pytest
from any_machine import subprocess_environment
from support.scripted_hub import ScriptedHub
from support.witness_hub import (
    HUB_AWAY,
    JSON,
    KEY,
    ORDERS_ROUTE,
    Hub,
    accept_all,
    count_requests,
    make_witness,
    observe_get,
    read_entries,
)

from affidavit import Redactor, ReportError, Witness
from affidavit._json import parse


def test_observe_raises_nothing_whatever_it_is_given():
    class Odd:
        def __getattr__(self, name):
            raise RuntimeError(name)

    def fail(method, path):
        raise RuntimeError("on purpose")

    witness = make_witness(hub := Hub())
    for odd in (None, 7, b"x", Odd(), [], "\ud800", "\0"):
        witness.observe(odd, odd, odd)
        witness.observe("GET", odd, 200, route="/a")
        witness.observe("GET", "/a", 200, route=odd, query=odd, request_body=odd, request_content_type=odd, at=odd)
        witness.observe(
            "GET", "/b", 200, route="/b", response_body=odd, response_content_type=JSON, response_encoding=odd
        )
    make_witness(exempt=fail).observe("GET", "/a", 200)
    observe_get(witness, body={}, **ORDERS_ROUTE)
    witness.flush()
    assert ("GET", "/orders/{pk}", 200) in hub.counts
    stats = witness.stats
    assert stats.observed == stats.delivered + stats.dropped + stats.ignored + stats.waiting


@pytest.mark.parametrize("route", [None, "/orders"])
def test_methods_that_a_stranger_invents_leave_room_for_the_operations_of_the_app(route):
    witness = make_witness(hub := Hub(), max_operations=300)
    for letters in itertools.product("ABCDEFGHIJKLMNOPQRST", repeat=2):
        witness.observe("X" + "".join(letters), "/orders", 200, route=route)
    observe_get(witness, "/orders", {}, route=route)
    witness.flush()
    assert len(hub.counts) == 101
    assert hub.counts["GET", "/orders", 200] == 1
    assert (witness.stats.dropped, witness.stats.delivered) == (300, 101)


@pytest.mark.parametrize("query", ["a%00b=1", "\udcff=1"])
def test_no_query_that_a_stranger_sends_spoils_the_report_of_the_other_requests(query):
    witness = make_witness(hub := Hub())
    observe_get(witness, "/search", query=f"{query}&page=2", route="/search")
    observe_get(witness, body={}, **ORDERS_ROUTE)
    assert witness.flush()
    entries = {entry["path"]: entry for body in hub.bodies for entry in parse(body)["observations"]}
    assert entries.keys() == {"/orders/{pk}", "/search"}
    assert list(entries["/search"]["query"]["properties"]) == ["page"]


def test_a_redactor_that_raises_loses_the_shape_but_not_the_count():
    def fail(value):
        raise RuntimeError("on purpose")

    witness = make_witness(hub := Hub(), redactor=Redactor(replace=fail))
    observe_get(witness, body={"a": 1}, **ORDERS_ROUTE)
    observe_get(witness, "/carts/1", body={"a": 1})
    assert witness.flush()
    assert sum(hub.counts.values()) == 2
    assert witness.stats.bodies_left_out == {"refused by a redactor that raised an error": 2}


def test_an_exempt_request_is_not_observed():
    witness = make_witness(hub := Hub(), exempt=lambda method, path: path.startswith("/admin"))
    observe_get(witness, "/admin/17", {}, route="/admin/<int:pk>")
    observe_get(witness, body={}, **ORDERS_ROUTE)
    witness.flush()
    assert (witness.stats.observed, len(hub.entries)) == (1, 1)


def test_an_async_exemption_is_refused_since_its_coroutine_would_exempt_everything():
    async def exempt(method, path):
        return False

    with pytest.raises(ValueError, match="exempt: this function is async"):
        make_witness(exempt=exempt)


def test_many_threads_neither_lose_nor_repeat_a_request():
    witness = make_witness(hub := Hub())

    def run(name):
        for number in range(300):
            observe_get(witness, f"/{name}/{number}", {"id": number, name: 1}, route=f"/{name}/<int:pk>")
            observe_get(witness, f"/plain/{number}", {"id": number})

    threads = [threading.Thread(target=run, args=(name,)) for name in "abcdef"]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        witness.flush()
    assert witness.flush()
    expected = {("GET", f"/{name}/{{pk}}", 200): 300 for name in "abcdef"}
    assert hub.counts == {**expected, ("GET", "/plain/{plainId}", 200): 1800}


def test_a_silent_hub_never_makes_the_host_wait():
    rules_requested, released = threading.Event(), threading.Event()

    class Silent(Hub):
        def get_json(self, path, headers):
            rules_requested.set()
            released.wait(30)
            raise HUB_AWAY

    witness = make_witness(Silent())
    observe_get(witness, body={}, **ORDERS_ROUTE)
    assert rules_requested.wait(5)
    before = time.monotonic()
    for _ in range(1000):
        observe_get(witness, body={"a": 1}, **ORDERS_ROUTE)
    assert time.monotonic() - before < 1
    assert not witness.flush(timeout=0.01)
    witness.close(timeout=0.01)
    assert witness.stats.dropped == 1001
    released.set()
    witness._background._thread.join(5)


SCRIPT = """
import os, sys, time
from affidavit import Witness
witness = Witness(sys.argv[1], base_url=sys.argv[2], interval=3600)
def observe(route, times=1):
    for _ in range(times):
        witness.observe(
            "GET", route, 200, route=route, response_body=b'{"a":1}', response_content_type="application/json"
        )
"""


def run(body, url):
    return subprocess.run(
        [sys.executable, "-c", SCRIPT + body, KEY, url],
        timeout=60,
        check=True,
        capture_output=True,
        text=True,
        env=subprocess_environment(),
    ).stderr


def test_the_rest_is_sent_when_the_process_ends():
    with ScriptedHub(accept_all) as hub:
        assert run("observe('/a', 3)", hub.url) == ""
        assert count_requests(read_entries(hub.received)) == {("GET", "/a", 200): 3}


def test_the_end_of_the_process_waits_a_few_seconds_at_most():
    with ScriptedHub(lambda handler: time.sleep(30)) as hub:
        before = time.monotonic()
        assert "not reported" in run("observe('/a')", hub.url)
        assert time.monotonic() - before < 15


def test_after_a_fork_parent_and_child_each_report_their_own():
    forked = """
observe('/before', 2)
child = os.fork()
observe('/child' if not child else '/parent', 3)
if child: assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    with ScriptedHub(accept_all) as hub:
        run(forked, hub.url)
        assert count_requests(read_entries(hub.received)) == {
            ("GET", "/before", 200): 2, ("GET", "/child", 200): 3, ("GET", "/parent", 200): 3,
        }  # fmt: skip


def test_a_fork_while_the_lock_is_held_does_not_block_the_child():
    witness = make_witness()
    observe_get(witness, body={}, **ORDERS_ROUTE)
    with witness._intake._lock, witness._background._condition:
        child = os.fork()
        if not child:
            observe_get(witness, body={}, **ORDERS_ROUTE)
            os._exit(0 if witness.stats.observed == 1 and witness.flush() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(("key", "url"), [(None, "http://x"), ("pk_x", "http://x"), (KEY, "ftp://x")])
def test_invalid_options_are_refused_at_once(key, url):
    with pytest.raises(ReportError):
        Witness(key, base_url=url)
