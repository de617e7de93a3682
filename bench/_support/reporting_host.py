"""A Flask app with a witness and an outcome reporter. Its arguments are the hub's address, and a certificate if any.

Each line of standard input is a number of requests. The program plays them, and prints a line of JSON: the longest
request, and the processor time and memory of the program so far. At the end of the input it prints how many of its
reports were delivered and lost.
"""

from __future__ import annotations

import json
import logging
import ssl
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any

import flask
from werkzeug.test import EnvironBuilder

from affidavit import OutcomeReporter, Witness, make_key
from affidavit._hub.retries import Retry
from affidavit._hub.transport import DEFAULT_TIMEOUT, HttpTransport
from affidavit.contrib.wsgi import WitnessMiddleware
from bench.sdk.witness import BODY


class Host:
    """An app that reports the outcome of each request, and its shape."""

    def __init__(self, address: str, certificate: str = "") -> None:
        trusted = ssl.create_default_context(cafile=certificate) if certificate else None
        transports = [
            HttpTransport(address, retry=Retry(attempts=2, total=DEFAULT_TIMEOUT), context=trusted) for _ in range(2)
        ]
        key, app, numbers = make_key("gak_"), flask.Flask("shop"), count()
        self.reporter = OutcomeReporter(key, transport=transports[0])
        self.witness = Witness(key, transport=transports[1], interval=1.0)

        @app.get("/orders/<int:order_id>")
        def show(order_id: int) -> flask.Response:
            self.reporter.report(f"conversation {next(numbers)}", "purchase")
            return flask.Response(BODY, mimetype="application/json")

        self._app: Any = WitnessMiddleware(app, self.witness)
        self._environ = EnvironBuilder("/orders/17").get_environ()

    def handle_request(self) -> None:
        chunks = self._app(dict(self._environ), lambda *_: None)
        if b"".join(chunks) != BODY:
            raise AssertionError("the answer has changed")
        chunks.close()

    def play_round(self, requests: int) -> dict[str, float]:
        """Return the seconds of the longest request, and the processor seconds and bytes of memory of this process."""
        longest = 0.0
        for _ in range(requests):
            began = time.perf_counter()
            self.handle_request()
            longest = max(longest, time.perf_counter() - began)
        return {"longest": longest, "processor": time.process_time(), "memory": read_memory()}


def read_memory() -> float:
    """Return the resident bytes of this process."""
    return float(Path("/proc/self/statm").read_text().split()[1]) * 4096


class WarningCounter(logging.Handler):
    count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1


def main() -> None:
    warnings = WarningCounter(logging.WARNING)
    logging.getLogger("affidavit").addHandler(warnings)
    host = Host(*sys.argv[1:])
    for line in sys.stdin:
        print(json.dumps(host.play_round(int(line))), flush=True)
    warnings_until_now = warnings.count
    has_sent_all = host.reporter.flush(60) and host.witness.flush(60)
    counts, stats = host.reporter.counts, host.witness.stats
    document = {
        "hasSentAll": has_sent_all, "warnings": warnings_until_now,
        "outcomes": counts.delivered, "outcomesRefused": counts.undelivered,
        "observations": stats.delivered, "observationsDropped": stats.dropped,
    }  # fmt: skip
    print(json.dumps(document), flush=True)


if __name__ == "__main__":
    main()
