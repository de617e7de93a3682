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
from pathlib import Path
from random import Random
from socketserver import ThreadingMixIn
from tempfile import TemporaryDirectory
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from examples.bookshop import reporting
from examples.bookshop.assistant import Assistant, Site, list_sites
from examples.bookshop.calls import over_http
from examples.bookshop.keys import Keys, read_keys
from examples.bookshop.live_traffic import WAIT_FACTOR, run_conversations
from examples.bookshop.shop import Bookshop, Settings

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
        running_shops = [
            start_environment(site, keys, options.hub, Path(folder), options.released_at)
            for site in list_sites(workspace_facts)[:2]
        ]
        try:
            assistants = [assistant for assistant, _ in running_shops]
            return run_conversations(assistants, released_at=options.released_at, shop_key=keys.shop)
        finally:
            for _, reporters in running_shops:
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


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR)  # hide warnings about reports that are unsent at the end
    try:
        status = main()
    except SystemExit as stop_request:
        status = stop_request.code or 0
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else 1)  # do not wait for threads
