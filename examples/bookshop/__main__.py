"""Run the shop and the assistant against any hub until stopped: see README.md."""

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
from pathlib import Path
from random import Random
from socketserver import ThreadingMixIn
from tempfile import TemporaryDirectory
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from examples.bookshop import people, reporting
from examples.bookshop.agenda import Agenda
from examples.bookshop.assistant import Assistant, HubAway, KeyRefused, Site, list_sites
from examples.bookshop.calls import over_http
from examples.bookshop.habits import STAGING_SHARE, Habits
from examples.bookshop.keys import Keys, read_keys
from examples.bookshop.release import DEPLOYMENT_SECONDS, RELEASE
from examples.bookshop.shop import Bookshop, Settings

WAIT_FACTOR = 1 / 15  # pauses are this share of a real user's, so that a viewer of the pages sees something happen
OPENING_WAIT_FACTOR = 1 / 60  # the same for the first conversations
# At first conversations are frequent, until the drift of the release can be seen. After that they are as rare as on a
# day of the sample's history, so that today's figures are not much larger than those of the days before.
LIVELY_SECONDS = 480  # how long conversations are frequent if there is no release
LIVELY_SECONDS_AFTER_RELEASE = 300
LIVELY_INTERVAL, QUIET_INTERVAL = 2.0, 600.0  # seconds between two conversations
MAX_CONVERSATIONS = 200
HUB_PATIENCE = 60  # seconds without the hub before the program ends
CLOSE_TIMEOUT = 0.5  # seconds for sending the last reports


class ThreadingServer(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class SilentHandler(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Log nothing, because at first there is a call every second."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m examples.bookshop", description=__doc__)
    parser.add_argument(
        "workspace",
        type=argparse.FileType(),
        help="output of `create_workspace --full-key --json`; - is standard input",
    )
    parser.add_argument("--hub", default="http://127.0.0.1:8000", metavar="URL")
    parser.add_argument("--released-at", default="inf", type=float, metavar="UNIX", help="when release.py takes effect")
    options = parser.parse_args()
    workspace_facts = json.load(options.workspace)
    try:
        keys = read_keys(workspace_facts)
    except KeyError:
        parser.error("the assistant decides confirmations too: make the workspace with --full-key")
    if len(workspace_facts["audiences"]) < 2:
        parser.error("the workspace needs a second environment: make it with --environment staging")
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, lambda *_: sys.exit(0))
    with TemporaryDirectory(prefix="bookshop-") as folder:
        stacks = [
            start_environment(site, keys, options.hub, Path(folder), options.released_at)
            for site in list_sites(workspace_facts)[:2]
        ]
        try:
            assistants = [assistant for assistant, _ in stacks]
            return run_conversations(assistants, released_at=options.released_at, shop_key=keys.shop)
        finally:
            for _, reporters in stacks:
                reporters.close(timeout=CLOSE_TIMEOUT)


def start_environment(
    site: Site, keys: Keys, hub: str, folder: Path, released_at: float
) -> tuple[Assistant, reporting.Reporters]:
    """Serve the shop of an environment on this machine only. Return the assistant that calls it, and its reporters."""
    reporters = reporting.build_reporters(keys, site.environment, hub)
    database = str(folder / f"{site.environment}.db")
    settings = Settings(site.workspace, site.environment, site.audience, site.signing_secret, database, released_at)
    shop = Bookshop(settings, reporters)
    server = make_server("127.0.0.1", 0, shop, server_class=ThreadingServer, handler_class=SilentHandler)
    threading.Thread(target=server.serve_forever, name=f"shop of {site.environment}", daemon=True).start()
    calls = over_http(hub), over_http(f"http://127.0.0.1:{server.server_port}")
    assistant = Assistant(
        site,
        *calls,
        key=keys.platform,
        order_sync=reporters.order_sync,
        now=time.time,
        chance=Random(),
        pace=WAIT_FACTOR,
    )
    return assistant, reporters


def run_conversations(assistants: Sequence[Assistant], *, released_at: float, shop_key: str = "") -> int:
    """Start conversations until the hub refuses the key or stays away. Return 0 if it refused the key, otherwise 1.

    shop_key: the key with which the shop's deployment announces the release.
    """
    agenda, chance = Agenda(time.time), assistants[0].chance
    start_time = next_at = time.time()
    away_since: float | None = None
    has_release = released_at < float("inf")
    lively_until = released_at + LIVELY_SECONDS_AFTER_RELEASE if has_release else start_time + LIVELY_SECONDS
    for steps in open_scene(*(assistant.with_pace(OPENING_WAIT_FACTOR) for assistant in assistants)):
        agenda.add(steps, due_at=start_time)
    if has_release and start_time <= released_at:
        announced_at = released_at - DEPLOYMENT_SECONDS
        agenda.add(announce_release(assistants[0].with_key(shop_key), announced_at), due_at=announced_at)
    while away_since is None or time.time() - away_since < HUB_PATIENCE:
        if time.time() >= next_at and len(agenda) < MAX_CONVERSATIONS:
            interval = LIVELY_INTERVAL if time.time() < lively_until else QUIET_INTERVAL
            next_at = time.time() + chance.expovariate(1) * interval
            pair = assistants if chance.random() > STAGING_SHARE else assistants[::-1]
            agenda.add(people.run_conversation(*pair, Habits()), due_at=time.time())
        try:
            while agenda.next_at <= time.time():
                agenda.run_next()
                away_since = None
        except KeyRefused:
            return 0
        except (HubAway, OSError, HTTPException):
            away_since = away_since or time.time()
            time.sleep(1.0)
        time.sleep(min(0.25, max(0.02, agenda.next_at - time.time())))
    return 1


def announce_release(deployment: Assistant, begun_at: float) -> people.Steps:
    """Annotate the release of release.py in all environments, as a deployment would when it begins.

    deployment: an assistant that calls the hub with the shop's key, which may use all environments.
    """
    deployment.ask_hub("/api/annotations", {"text": RELEASE, "at": int(begun_at), "allEnvironments": True})
    yield from ()


def open_scene(production: Assistant, staging: Assistant) -> Iterator[people.Steps]:
    """Yield the first conversations and a few mistakes, so that every page has data at once."""
    usual, altering = Habits(), Habits(altered_share=1.0)
    for scenario in (people.buy, people.request_refund, people.change_newsletter):
        yield people.run_conversation(production, staging, usual, scenario)
        yield people.run_conversation(production, staging, altering, scenario)
    yield people.run_conversation(staging, production, usual, people.buy)
    for reason in ("expired", "audience-mismatch", "replayed", "unsupported-version", "args-mismatch"):
        talk = people.Conversation(production, "user-ada", "", usual)
        yield people.make_mistake(talk, staging.site, reason)


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR)  # hide warnings about reports that are unsent at the end
    try:
        status = main()
    except SystemExit as stop_request:
        status = stop_request.code or 0
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else 1)  # do not wait for threads
