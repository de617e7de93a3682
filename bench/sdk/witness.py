"""Measure the time that a witness adds to a request of a Flask app, and the time of its thread for one body.

For uvicorn (Starlette) and gunicorn (Flask), the time is the processor time of the server for a small answer. It
includes the thread of the witness.

The witness reports to a stand-in for the hub in the same process. Usually the shape of an operation is settled, so that
few bodies are inspected. If the shape is new, every body is inspected: its bytes are queued, and the witness's thread
parses them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import flask
from werkzeug.test import EnvironBuilder

from affidavit import Json, Witness, make_key, parse_json
from affidavit._paths.routes import build_route_template
from affidavit._shapes.redaction import DEFAULT
from affidavit._witness.aggregator import Aggregator
from affidavit._witness.bodies import RawBody
from affidavit._witness.intake import Intake
from affidavit.contrib.wsgi import WitnessMiddleware
from bench._support.measure import measure_medians
from bench._support.result_table import Row, print_table
from bench._support.servers import SERVERS, build_request, measure_servers

CALLS = 100
SETTLED_LIMIT, UNSETTLED_LIMIT = 2.0, 3.5  # times the duration of the same request without a witness
KEPT_SHARE = 0.92
"""With a witness, an app must still handle at least this share of its requests per second."""
LOOK_LIMIT = 5.0  # limit for inspecting a body: times the duration of parsing it
ORDER = {
    "id": 17, "customer": {"name": "Ömer", "email": "o@example.com"}, "paid": True, "note": None,
    "lines": [{"sku": f"B-{number}", "quantity": number, "price": 12.5} for number in range(20)],
}  # fmt: skip
BODY = json.dumps(ORDER).encode()


class AcceptAllHub:
    """A hub without rules that accepts every report."""

    def get_json(self, path: str, headers: Mapping[str, str]) -> Json:
        return {"rules": []}

    def post_json(self, path: str, body: bytes, headers: Mapping[str, str]) -> Json:
        return {"accepted": 1, "reportId": "x"}


def build_witness() -> Witness:
    return Witness(make_key("gak_"), transport=AcceptAllHub(), interval=3600)


def build_caller(witness: Witness | None) -> Callable[[], object]:
    """Return a function that sends one request to a shop, with the witness around it or without."""
    app = flask.Flask("shop")

    @app.get("/orders/<int:order_id>")
    def show(order_id: int) -> flask.Response:
        return flask.Response(BODY, mimetype="application/json")

    environ = EnvironBuilder("/orders/17?full=1").get_environ()
    wrapped_app: Any = app if witness is None else WitnessMiddleware(app, witness)

    def call() -> None:
        chunks = wrapped_app(dict(environ), lambda *_: None)
        if b"".join(chunks) != BODY:
            raise AssertionError("the answer has changed")
        chunks.close()

    return call


def fix_sampling(call: Callable[[], object], witness: Witness, *, is_new: bool) -> Callable[[], object]:
    """Return `call` with the shape of its operation settled for good, or with the shape new at each call."""
    call()
    (operation,) = witness._intake._routed_operations.values()

    def call_unsettled() -> None:
        operation.pace.adjust(news=True)
        call()

    for _ in range(1000):
        operation.pace.adjust(news=False)
    return call_unsettled if is_new else call


def rows() -> Iterator[Row]:
    settled_witness, unsettled_witness = build_witness(), build_witness()
    candidates = {
        "bare": build_caller(None),
        "settled": fix_sampling(build_caller(settled_witness), settled_witness, is_new=False),
        "unsettled": fix_sampling(build_caller(unsettled_witness), unsettled_witness, is_new=True),
        "parse": lambda: parse_json(BODY),
        "look": build_queue_inspector(),
    }
    times = measure_medians(candidates, calls=CALLS)
    for name, limit in (("settled", SETTLED_LIMIT), ("unsettled", UNSETTLED_LIMIT)):
        reference = f"no middleware {times['bare']:.1f} µs"
        yield Row(f"Flask, {name} shape", f"{times[name]:.1f} µs", reference, times[name] / times["bare"], limit)
    reference = f"parsing it {times['parse']:.1f} µs"
    ratio = times["look"] / times["parse"]
    yield Row(f"thread, a body of {len(BODY)} bytes", f"{times['look']:.1f} µs", reference, ratio, LOOK_LIMIT)
    settled_witness.close()
    unsettled_witness.close()


def server_rows() -> Iterator[Row]:
    requests = [build_request("GET", "/orders/17")]
    for server in SERVERS:
        times = measure_servers(server, {"": requests, "witness": requests})
        keeps = f"no middleware {times['']:.0f} µs, keeps {times[''] / times['witness']:.3f}"
        ratio = times["witness"] / times[""]
        yield Row(f"{server}, a small answer", f"{times['witness']:.0f} µs", keeps, ratio, 1 / KEPT_SHARE)


def build_queue_inspector() -> Callable[[], object]:
    """Return a function that queues one body and inspects it, as a request and the witness's thread do."""
    intake = Intake(10)
    aggregator = Aggregator(intake, DEFAULT, max_body=len(BODY), max_operations=10)
    template = build_route_template("/orders/<int:order_id>")
    facts = {"query": "full=1", "request": None, "response": RawBody(BODY, "")}

    def inspect_one_body() -> None:
        intake.take("GET", "/orders/17", 200, template, moment=0.0, now=0.0, **facts)
        for operation in intake._routed_operations.values():
            operation.pace.adjust(news=True)
        aggregator.inspect_queue()

    return inspect_one_body


if __name__ == "__main__":
    print_table([*rows(), *server_rows()])
