"""The bookshop without a hub: correct calls pass, each mistake gets its reason, and no value is reported."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import pytest

import affidavit
from examples.bookshop import people
from examples.bookshop.agenda import Agenda
from examples.bookshop.assistant import Assistant, Site, ToolCall
from examples.bookshop.call_mistakes import MISTAKES
from examples.bookshop.calls import Answer, in_process
from examples.bookshop.habits import Habits
from examples.bookshop.live_traffic import announce_release
from examples.bookshop.reporting import Reporters
from examples.bookshop.shop import STEP_UP_PATH, Bookshop, Settings, compute_pin

WORKSPACE, SECRET, KEY = "ws_0123456789abcdef", "gas_" + "s" * 43, affidavit.make_key("gak_")
PRODUCTION = Site(WORKSPACE, "production", "urn:lumen:production", SECRET)
STAGING = Site(WORKSPACE, "staging", "urn:lumen:staging", SECRET)
SUB = "user-ada"
LINE = ToolCall(SUB, "POST", "/cart/lines", body={"bookId": 101, "quantity": 2, "conversationId": "conv_1"})
ORDER = ToolCall(
    SUB, "POST", "/orders",
    body={"shipTo": {"name": "Ada", "street": "Station Road 7", "city": "Porto"}, "conversationId": "conv_1"},
)  # fmt: skip
REFUND = ToolCall(SUB, "POST", "/refunds", body={"orderId": 10_001, "reason": "damaged"}, step_up=True)


class Hub:
    """A hub that confirms and mints every call, and records the reports."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self.reports: list[tuple[str, Any]] = []

    def call(self, method: str, target: str, body: Any, headers: Mapping[str, str]) -> Answer:
        if target == "/api/confirmations":
            return Answer(201, {"confirmationId": "c1"})
        if target == "/api/annotations":
            self.reports.append((target, body))
        if target != "/api/intents":
            return Answer(200, {})
        site = {"production": PRODUCTION, "staging": STAGING}[body["environment"]]
        minted = affidavit.mint_intent(
            SECRET, tenant_id=WORKSPACE, sub=body["sub"], aud=site.audience, operation=body["operation"],
            args=body["args"], tool_call_id=body.get("toolCallId"), requires_step_up=body.get("requiresStepUp"),
            now=self.now(),
        )  # fmt: skip
        return Answer(201, {"header": minted.header})

    def post_json(self, path: str, body: bytes, headers: Mapping[str, str]) -> Any:
        document = json.loads(body)
        self.reports.append((path, document))
        return {"recorded": 0, "unknownConversations": [], "accepted": 1}


class RecordedOutcomes:
    """Replaces an OutcomeReporter and records the outcomes."""

    def __init__(self) -> None:
        self.outcomes: list[tuple[str, str]] = []

    def report(self, conversation_id: str, outcome_key: str) -> None:
        self.outcomes.append((conversation_id, outcome_key))


class RecordedVerifications:
    """Replaces VerificationReports and records result and operation of each call."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def add(self, result: str, *, operation: str = "", **_: Any) -> None:
        self.calls.append((result, operation))


class World:
    """A shop and its assistant, with a clock that the test sets."""

    def __init__(self, database: str = ":memory:", **settings: Any) -> None:
        self.time = 1_800_000_000.0
        self.hub = Hub(lambda: self.time)
        self.recorded_outcomes = RecordedOutcomes()
        self.verifications = RecordedVerifications()
        self.witness = affidavit.Witness(KEY, transport=self.hub, rules=False, now=lambda: self.time)
        shop_settings = Settings(WORKSPACE, "production", PRODUCTION.audience, SECRET, database, **settings)
        reporters = Reporters(self.recorded_outcomes, self.witness, self.verifications)
        self.shop = Bookshop(shop_settings, reporters, now=lambda: self.time)
        self.call = in_process(self.shop)
        self.assistant = Assistant(
            PRODUCTION, self.hub.call, self.call, key=KEY, order_sync=self.recorded_outcomes, now=lambda: self.time,
            chance=Random(1), pace=1.0,
        )  # fmt: skip

    def send(self, call: ToolCall, **fields: Any) -> Answer:
        return self.assistant.send(call, self.assistant.mint(call, **fields))

    def run_to_end(self, course: Any) -> Any:
        """Run the steps to their end without waiting, and return their result."""
        while True:
            try:
                self.time += next(course)
            except StopIteration as end:
                return end.value

    def outcomes(self) -> list[tuple[str, str]]:
        return self.recorded_outcomes.outcomes


@pytest.fixture(params=["memory", "file"])
def world(request: Any, tmp_path: Any) -> World:
    return World(":memory:" if request.param == "memory" else str(tmp_path / "shop.db"))


@pytest.mark.parametrize("reason", MISTAKES)
def test_every_mistake_is_rejected_with_its_reason(reason):
    world = World()
    call = ToolCall(SUB, "GET", "/orders")
    answer = world.run_to_end(MISTAKES[reason][1](world.assistant, STAGING, call))
    assert (answer.status, answer.json["reason"]) == (403, reason)
    operations = {"args-mismatch": "POST /cart/lines", "unsupported-version": "POST /refunds"}
    assert world.verifications.calls[-1] == (reason, operations.get(reason, "GET /orders"))


def test_the_report_of_a_rejected_call_names_its_template(world):
    assert world.assistant.send(ToolCall(SUB, "GET", "/orders/10001"), None).status == 403
    assert world.verifications.calls == [("missing-header", "GET /orders/{orderId}")]


def test_the_mistakes_and_step_up_cover_all_reasons():
    assert {*MISTAKES, "step-up-required"} == set(affidavit.REASONS)


def test_only_the_page_for_the_pin_answers_without_an_intent(world):
    for method, path, _ in world.shop._list_views():
        answer = world.call(method, re.sub("<.*>", "101", path), None, {})
        expected = (403, {"error": "wrong-pin"}) if path == STEP_UP_PATH else (403, "missing-header")
        assert (answer.status, answer.json.get("reason", answer.json)) == expected


def test_an_order_is_reported_as_an_outcome_of_the_widgets_conversation(world):
    assert world.send(LINE).json["total"] == {"amount": 29.8, "currency": "EUR"}
    placed = world.send(ORDER)
    assert (placed.status, placed.json["status"]) == (201, "received")
    assert world.send(ToolCall(SUB, "GET", "/orders/10001")).json == placed.json
    assert world.send(ToolCall(SUB, "GET", "/cart")).json["lines"] == []
    assert world.outcomes() == [("conv_1", "cart_started"), ("conv_1", "purchase")]


def test_a_retry_with_the_same_tool_call_id_orders_once(world):
    world.send(LINE)
    first, second = world.send(ORDER, toolCallId="call_1"), world.send(ORDER, toolCallId="call_1")
    assert first == second
    assert len(world.send(ToolCall(SUB, "GET", "/orders")).json["orders"]) == 1
    assert [key for _, key in world.outcomes()] == ["cart_started", "purchase"]


def test_one_customer_never_sees_the_order_of_another(world):
    world.send(LINE)
    world.send(ORDER)
    assert world.send(ToolCall("user-eve", "GET", "/orders/10001")).status == 404


def test_a_refund_needs_a_step_up_that_has_not_expired(world):
    world.send(LINE)
    world.send(ORDER)
    demand = {"requiresStepUp": True}
    assert world.send(REFUND, **demand).json["reason"] == "step-up-required"
    assert world.call("POST", STEP_UP_PATH, {"user": SUB, "pin": "none"}, {}).status == 403
    assert world.call("POST", STEP_UP_PATH, {"user": SUB, "pin": compute_pin(SUB)}, {}).status == 200
    assert world.send(REFUND, **demand).status == 201
    world.time += 301
    assert world.send(REFUND, **demand).json["reason"] == "step-up-required"


def test_missing_arguments_are_the_callers_fault(world):
    assert world.send(ToolCall(SUB, "POST", "/cart/lines", body={})).status == 400
    assert world.send(ToolCall(SUB, "GET", "/books", {"start": "soon"})).status == 400


def test_shapes_are_reported_and_no_value():
    world = World()
    world.send(LINE)
    world.send(ORDER)
    world.send(ToolCall(SUB, "GET", "/orders/10001"))
    world.call("POST", STEP_UP_PATH, {"user": SUB, "pin": compute_pin(SUB)}, {})
    assert world.witness.flush()
    report = next(report for _, report in world.hub.reports if "observations" in report)
    assert {(seen["method"], seen["path"], seen["status"]) for seen in report["observations"]} == {
        ("POST", "/cart/lines", 201),
        ("POST", "/orders", 201),
        ("GET", "/orders/{orderId}", 200),
        ("POST", "/account/step-up", 200),
    }
    text = json.dumps(report["observations"])
    values = (SUB, "Porto", "Station", "Moby", "10001", compute_pin(SUB), "conv_1")
    assert not [value for value in values if value in text]


def test_a_release_renames_drops_and_adds_a_field_and_changes_a_type():
    world = World(released_at=1_800_000_100.0)
    world.send(LINE)
    world.send(ORDER)
    paths = ("/books", "/books/101", "/orders/10001", "/cart")
    reads = [ToolCall(SUB, "GET", path) for path in paths]
    books, book, order, cart = [world.send(call).json for call in reads]
    world.time += 200
    after = [world.send(call).json for call in reads]
    assert {*books} - {*after[0]} == {"total"}
    assert ({*book} - {*after[1]}, {*after[1]} - {*book}) == ({"pages"}, {"pageCount"})
    assert (type(order["placedAt"]), type(after[2]["placedAt"])) == (int, str)
    assert {*after[3]} - {*cart} == {"giftWrap"}


def test_a_release_is_annotated_when_its_deployment_begins():
    world = World()
    assert list(announce_release(world.assistant, 1_800_000_100.0)) == []
    annotation = {"environment": "production", "text": "Release 5.0", "at": 1_800_000_100, "allEnvironments": True}
    assert world.hub.reports == [("/api/annotations", annotation)]


def test_a_hundred_conversations_run_through_and_every_way_to_mangle_an_id_occurs():
    world = World()
    staging = Assistant(STAGING, world.hub.call, world.call, key=KEY, now=lambda: world.time, chance=Random(2))
    agenda = Agenda(lambda: world.time)
    for n in range(100):
        agenda.add(
            people.run_conversation(world.assistant, staging, Habits(altered_share=0.5)),
            due_at=world.time + 30 * n,
        )
    while len(agenda):
        world.time = max(world.time, agenda.next_at)
        agenda.run_next()
    reported = {conversation_id for conversation_id, _ in world.outcomes()}
    assert any(text.isupper() for text in reported)
    assert {text[:4] for text in reported} >= {"conv", "http", '"con'}
    assert reported & {"undefined", "{{conversationId}}", "[object Object]"}
