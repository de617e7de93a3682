"""What a live reporter adds to a request of a Flask app, and what its thread does for one that is looked at.

The reporter's hub takes every report at once and in this process. Requests of a settled shape are the usual case; an
unsettled one is looked at each time, which costs its bytes in the queue, and its parsing in the reporter's thread.
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
from bench._measure import Row, medians, print_table

CALLS = 100
SETTLED_LIMIT, UNSETTLED_LIMIT = 2.0, 3.5  # times the same request without
LOOK_LIMIT = 5.0  # times parsing
ORDER = {
    "id": 17, "customer": {"name": "Ömer", "email": "o@example.com"}, "paid": True, "note": None,
    "lines": [{"sku": f"B-{number}", "quantity": number, "price": 12.5} for number in range(20)],
}  # fmt: skip
BODY = json.dumps(ORDER).encode()


class Nowhere:
    """A hub without rules that takes everything."""

    def get_json(self, path: str, headers: Mapping[str, str]) -> Json:
        return {"rules": []}

    def post_json(self, path: str, body: bytes, headers: Mapping[str, str]) -> Json:
        return {"accepted": 1, "reportId": "x"}


def reporter() -> Witness:
    return Witness(make_key("gak_"), transport=Nowhere(), interval=3600)


def shop(witness: Witness | None) -> Callable[[], object]:
    """A function that makes one request of the shop, reporter around it or not."""
    app = flask.Flask("shop")

    @app.get("/orders/<int:order_id>")
    def show(order_id: int) -> flask.Response:
        return flask.Response(BODY, mimetype="application/json")

    environ = EnvironBuilder("/orders/17?full=1").get_environ()
    served: Any = app if witness is None else WitnessMiddleware(app, witness)

    def call() -> None:
        chunks = served(dict(environ), lambda *_: None)
        if b"".join(chunks) != BODY:
            raise AssertionError("the answer has changed")
        chunks.close()

    return call


def paced(call: Callable[[], object], witness: Witness, *, news: bool) -> Callable[[], object]:
    """The same, with the shape settled for good, or never."""
    call()
    (operation,) = witness._intake._routed.values()

    def unsettled() -> None:
        operation.pace.adjust(news=True)
        call()

    for _ in range(1000):
        operation.pace.adjust(news=False)
    return unsettled if news else call


def rows() -> Iterator[Row]:
    calm, busy = reporter(), reporter()
    candidates = {
        "bare": shop(None),
        "settled": paced(shop(calm), calm, news=False),
        "unsettled": paced(shop(busy), busy, news=True),
        "parse": lambda: parse_json(BODY),
        "look": inspect_queue(),
    }
    times = medians(candidates, calls=CALLS)
    for name, limit in (("settled", SETTLED_LIMIT), ("unsettled", UNSETTLED_LIMIT)):
        against = f"no middleware {times['bare']:.1f} µs"
        yield Row(f"Flask, {name} shape", f"{times[name]:.1f} µs", against, times[name] / times["bare"], limit)
    against = f"parsing it {times['parse']:.1f} µs"
    ratio = times["look"] / times["parse"]
    yield Row(f"thread, a body of {len(BODY)} bytes", f"{times['look']:.1f} µs", against, ratio, LOOK_LIMIT)
    calm.close()
    busy.close()


def inspect_queue() -> Callable[[], object]:
    """What the reporter's thread does for one body."""
    intake = Intake(10)
    aggregator = Aggregator(intake, DEFAULT, max_body=len(BODY), max_operations=10)
    template = build_route_template("/orders/<int:order_id>")
    facts = {"query": "full=1", "request": None, "response": RawBody(BODY, "")}

    def one() -> None:
        intake.take("GET", "/orders/17", 200, template, moment=0.0, now=0.0, **facts)
        for operation in intake._routed.values():
            operation.pace.adjust(news=True)
        aggregator.inspect_queue()

    return one


if __name__ == "__main__":
    print_table(rows())
