"""The shop and the assistant together, against any hub, until stopped: see README.md."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from http.client import HTTPException
from random import Random
from socketserver import ThreadingMixIn
from tempfile import TemporaryDirectory
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from examples.bookshop import people, reporting
from examples.bookshop.agenda import Agenda
from examples.bookshop.assistant import Assistant, HubAway, KeyRefused, Place, places_of
from examples.bookshop.calls import over_http
from examples.bookshop.shop import Bookshop, Settings

PACE = 1 / 15  # of its waits: who looks at a page has no patience for people who think
HURRIED = 1 / 60  # of those that open the scene
LIVELY_FOR = 600  # seconds in which a conversation begins each second; then it gets quiet, to stay small
LIVELY, QUIET = 1.0, 15.0  # seconds between two conversations
STAGING = 0.12  # share of the second environment
MOST_AT_ONCE = 200
PATIENCE = 60  # seconds without the hub
LAST_WORDS = 0.5  # seconds for what is still to be reported at the end


class ThreadingServer(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Silent(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        """A gentle stream of calls is no news."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m examples.bookshop", description=__doc__)
    parser.add_argument(
        "workspace", type=argparse.FileType(), help="what `manage.py create_workspace --json` printed; - reads it"
    )
    parser.add_argument("--hub", default="http://127.0.0.1:8000", metavar="URL")
    parser.add_argument("--released-at", default="inf", type=float, metavar="UNIX", help="when release.py comes out")
    asked = parser.parse_args()
    created = json.load(asked.workspace)
    if len(created["audiences"]) < 2:
        parser.error("the workspace needs a second environment: make it with --environment staging")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))
    with TemporaryDirectory(prefix="bookshop-") as folder:
        stacks = [
            stack_of(place, created["secretKey"], asked.hub, f"{folder}/{place.environment}.db", asked.released_at)
            for place in places_of(created)[:2]
        ]
        try:
            return talk([assistant for assistant, _ in stacks])
        finally:
            for _, reporters in stacks:
                reporters.close(timeout=LAST_WORDS)


def stack_of(
    place: Place, key: str, hub: str, database: str, released_at: float
) -> tuple[Assistant, reporting.Reporters]:
    """The assistant of an environment; the shop that it calls is served on this machine only, and reports."""
    reporters = reporting.live(key, place.environment, hub)
    settings = Settings(place.workspace, place.environment, place.audience, place.signing_secret, database, released_at)
    shop = Bookshop(settings, reporters)
    server = make_server("127.0.0.1", 0, shop, server_class=ThreadingServer, handler_class=Silent)
    threading.Thread(target=server.serve_forever, name=f"shop of {place.environment}", daemon=True).start()
    calls = over_http(hub), over_http(f"http://127.0.0.1:{server.server_port}")
    return Assistant(place, *calls, key=key, now=time.time, chance=Random(), pace=PACE), reporters


def talk(assistants: Sequence[Assistant]) -> int:
    """Conversations without end; until the key is refused, or the hub stays away."""
    agenda, chance = Agenda(time.time), assistants[0].chance
    started = next_at = answered_at = time.time()
    for course in opening(*(assistant.at_pace(HURRIED) for assistant in assistants)):
        agenda.add(course, at=started)
    while time.time() - answered_at < PATIENCE:
        if time.time() >= next_at and len(agenda) < MOST_AT_ONCE:
            next_at = time.time() + chance.expovariate(1) * (LIVELY if time.time() - started < LIVELY_FOR else QUIET)
            pair = assistants if chance.random() > STAGING else assistants[::-1]
            agenda.add(people.conversation(*pair, people.Habits()), at=time.time())
        try:
            while agenda.next_at <= time.time():
                agenda.go_on()
                answered_at = time.time()
        except KeyRefused:
            return 0
        except (HubAway, OSError, HTTPException):
            time.sleep(1.0)
        time.sleep(min(0.25, max(0.02, agenda.next_at - time.time())))
    return 1


def opening(production: Assistant, staging: Assistant) -> Iterator[people.Course]:
    """Something of everything, so that no page waits for chance."""
    usual, mangled = people.Habits(), people.Habits(mangled=1.0)
    for plot in (people.buys, people.wants_money_back, people.subscribes):
        yield people.conversation(production, staging, usual, plot)
        yield people.conversation(production, staging, mangled, plot)
    yield people.conversation(staging, production, usual, people.buys)
    for reason in ("expired", "audience-mismatch", "replayed", "unsupported-version", "args-mismatch"):
        talk = people.Conversation(production, "user-ada", "", usual)
        yield people.goes_wrong(talk, staging.place, reason)


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR)  # what the hub does not take at the end is no news
    try:
        status = main()
    except SystemExit as asked_to_stop:
        status = asked_to_stop.code or 0
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else 1)  # nobody who stops a sample shall wait for its threads
