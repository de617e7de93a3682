"""Clients of a hub under faults. They send requests of four kinds, repeat unanswered requests, and keep the ledger."""

from __future__ import annotations

import http.client
import itertools
import json
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.faults.ledger import Item, Ledger

OUTCOMES, CONVERSATIONS = "/api/conversation-outcomes", "/api/conversations"
WITNESS_REPORTS, VERIFICATION_REPORTS = "/api/witness-reports", "/api/verification-reports"
KEYS = ("purchase", "renewal", "ticket closed", "refund", "sign-up")
SYLLABLES = ("ba", "do", "fu", "gi", "ke", "lo", "mu", "na", "po", "ra", "si", "tu")
PAUSE = 0.05  # seconds between two requests of a client
LAST_SECONDS = 180.0  # how long clients keep repeating unanswered requests after the last fault
WORDS_OF_A_CLEAN_REFUSAL = "Nothing of this request was stored"
SHAPE = {"type": "object", "properties": {"id": {"type": "integer"}, "total": {"type": "number"}}}


@dataclass(frozen=True)
class Sending:
    """A request, and the items that it adds.

    items: the items that count once, however often the request is sent.
    each_time: the items that every delivery adds again.
    """

    path: str
    body: bytes
    items: Counter[Item]
    each_time: Counter[Item] = field(default_factory=Counter)
    idempotency_key: str = ""


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def problem(self) -> dict[str, Any]:
        """Return the problem document of an error; empty if there is none."""
        try:
            document = json.loads(self.body)
        except ValueError:
            return {}
        return document if isinstance(document, dict) else {}

    @property
    def is_temporary(self) -> bool:
        return self.status in (429, 503) or self.problem.get("code") == "idempotency-key-in-use"

    @property
    def wait(self) -> float:
        return min(float(self.headers.get("Retry-After", 0)), 5.0)


class Client(threading.Thread):
    """One client with a connection of its own. `end` lets it finish requests that have no answer yet."""

    def __init__(self, number: int, address: str, key: str, ledger: Ledger, seed: int) -> None:
        super().__init__(name=f"client {number}", daemon=True)
        self._target = urlsplit(address)
        self._key, self._ledger = key, ledger
        self._chance = random.Random(seed * 1000 + number)
        self._prefix, self._numbers = f"{'abcdefghij'[number]}{seed}", itertools.count()
        self._unregistered: list[str] = []
        self._delivered: list[tuple[Sending, bytes]] = []
        self._connection: http.client.HTTPConnection | None = None
        self._is_ending, self._last_moment = threading.Event(), 0.0
        self.statuses: Counter[str] = Counter()
        self.surprises: Counter[str] = Counter()
        self.failure: BaseException | None = None

    def end(self) -> None:
        self._last_moment = time.monotonic() + LAST_SECONDS
        self._is_ending.set()

    def run(self) -> None:
        steps: Sequence[tuple[Callable[[], None], int]] = (
            (self._report_outcomes, 8),
            (self._register_conversations, 6),
            (self._report_observations, 4),
            (self._report_verifications, 4),
            (self._send_twice_at_once, 2),
            (self._send_again, 2),
            (self._send_once, 2),
            (self._send_what_is_refused, 2),
        )
        actions, weights = zip(*steps, strict=True)
        try:
            while not self._is_ending.is_set():
                self._chance.choices(actions, weights)[0]()
                time.sleep(PAUSE)
        except BaseException as error:  # the run notes it as a surprise: a client that stops early must fail the run
            self.failure = error

    # The kinds of requests

    def _report_outcomes(self) -> None:
        self._deliver(self._build_outcomes())

    def _register_conversations(self) -> None:
        """Register some conversations with outcomes that were reported earlier, and some that have no outcome."""
        self._chance.shuffle(self._unregistered)
        ids = [self._new_id() for _ in range(self._chance.randint(1, 3))]
        while self._unregistered and len(ids) < 8:
            ids.append(self._unregistered.pop())
        body = {"conversations": [{"conversationId": id_} for id_ in ids]}
        items = Counter(Item("conversation", id_) for id_ in ids)
        self._deliver(Sending(CONVERSATIONS, dump(body), items, idempotency_key=self._choose_key()))

    def _report_observations(self) -> None:
        self._deliver(self._build_witness_report(self._new_operation()))

    def _report_verifications(self) -> None:
        self._deliver(self._build_verification_report())

    def _send_twice_at_once(self) -> None:
        """Send a request over two connections at once, then repeat it until it is acknowledged."""
        sending = self._choose_repeatable()
        self._ledger.note_sent(sending.items)
        open_connections: list[http.client.HTTPConnection] = []
        for _ in range(2):
            connection = self._connect()
            with self._count_breaks():
                connection.request("POST", sending.path, sending.body, self._headers(sending))
                open_connections.append(connection)
        for connection in open_connections:
            with self._count_breaks():
                connection.getresponse().read()
            connection.close()
        self._deliver(sending, is_in_ledger=True)

    def _send_again(self) -> None:
        """Repeat a request that was acknowledged earlier, and expect the same answer byte for byte."""
        if self._delivered:
            sending, former = self._chance.choice(self._delivered)
            answer = self._send_until_final(sending)
            if answer and (answer.status >= 300 or answer.body != former):
                self.surprises[f"{sending.path}: another answer to a repetition ({answer.status})"] += 1

    def _send_once(self) -> None:
        """Send once, without an idempotency key. If the hub says that nothing was stored, note the items as refused."""
        sending = self._build_outcomes(idempotency_key="")
        all_items = sending.items + sending.each_time
        self._ledger.note_sent(all_items)
        answer = self._send(sending)
        if answer is None:
            return
        if answer.status < 300:
            self._ledger.note_acknowledged(all_items)
        elif WORDS_OF_A_CLEAN_REFUSAL in str(answer.problem.get("detail", "")) or answer.status < 500:
            self._ledger.note_refused(all_items)

    def _send_what_is_refused(self) -> None:
        """Send a request that must be refused.

        It has a wrong item, or it has an idempotency key or report id that was used before with another body.
        """
        outcomes = self._build_outcomes(idempotency_key="")
        invalid_body = json.loads(outcomes.body)
        invalid_body["outcomes"].append({"conversationId": "", "outcomeKey": "purchase"})
        sending = Sending(outcomes.path, dump(invalid_body), outcomes.items + outcomes.each_time)
        if self._delivered:
            former = self._chance.choice(self._delivered)[0]
            if former.path == OUTCOMES:
                other = self._build_outcomes(idempotency_key=former.idempotency_key)
                sending = Sending(OUTCOMES, other.body, other.items, idempotency_key=former.idempotency_key)
            elif former.path == WITNESS_REPORTS:
                sending = self._build_witness_report("/refused/report", json.loads(former.body)["reportId"])
            elif former.path == VERIFICATION_REPORTS:
                sending = self._build_verification_report(json.loads(former.body)["reportId"])
        items = Counter({item: number for item, number in sending.items.items() if item.kind != "witness report"})
        self._ledger.note_sent(items)
        self._ledger.note_refused(items)
        answer = self._send_until_final(sending)
        if answer and answer.status < 400:
            self.surprises[f"{sending.path}: {answer.status} for what should be refused"] += 1

    # How a request is built

    def _build_outcomes(self, idempotency_key: str | None = None) -> Sending:
        idempotency_key = self._choose_key() if idempotency_key is None else idempotency_key
        pairs = [(self._new_id(), self._chance.choice(KEYS)) for _ in range(self._chance.randint(1, 5))]
        self._unregistered += [id_ for id_, _ in pairs if self._chance.random() < 0.8]  # the others stay broken joins
        body = {"outcomes": [{"conversationId": id_, "outcomeKey": key} for id_, key in pairs]}
        outcomes = Counter(Item("outcome", f"{id_} {key}") for id_, key in pairs)
        reports = Counter(Item("report of an outcome", item.name) for item in outcomes)
        if idempotency_key:
            return Sending(OUTCOMES, dump(body), outcomes + reports, idempotency_key=idempotency_key)
        return Sending(OUTCOMES, dump(body), outcomes, each_time=reports)

    def _build_witness_report(self, path: str, report_id: str = "") -> Sending:
        report_id = report_id or str(uuid.UUID(int=self._chance.getrandbits(128), version=4))
        count = self._chance.randint(1, 9)
        observation = {"method": "GET", "path": path, "status": 200, "count": count, "response": SHAPE}
        items = Counter({Item("witness report", report_id): 1, Item("observation", f"GET {path}"): count})
        return Sending(WITNESS_REPORTS, dump({"reportId": report_id, "observations": [observation]}), items)

    def _build_verification_report(self, report_id: str = "") -> Sending:
        call, count = f"call {self._new_id()}", self._chance.randint(1, 9)
        operation = f"GET {self._new_operation()}"
        verifications = [
            {"result": "accepted", "version": 2, "operation": operation, "count": count},
            {"result": "expired", "version": 2, "operation": "POST /rejected", "toolCallId": call},
        ]
        items = Counter({Item("verification", operation): count, Item("rejection", call): 1})
        report_id = report_id or str(uuid.UUID(int=self._chance.getrandbits(128), version=4))
        return Sending(VERIFICATION_REPORTS, dump({"reportId": report_id, "verifications": verifications}), items)

    def _choose_repeatable(self) -> Sending:
        """Return a request that counts once, however often it is sent."""
        builders: Sequence[Callable[[], Sending]] = (
            lambda: self._build_outcomes(idempotency_key=str(uuid.uuid4())),
            lambda: self._build_witness_report(self._new_operation()),
            self._build_verification_report,
        )
        return self._chance.choice(builders)()

    def _choose_key(self) -> str:
        return str(uuid.uuid4()) if self._chance.random() < 0.5 else ""

    def _new_id(self) -> str:
        return f"conversation {self._prefix} {next(self._numbers)}"

    def _new_operation(self) -> str:
        """Return one of 1,728 templates. None of them has a segment that looks like data."""
        return f"/faults/{''.join(self._chance.choices(SYLLABLES, k=3))}"

    # How a request is delivered

    def _deliver(self, sending: Sending, *, is_in_ledger: bool = False) -> None:
        """Send a request until it is acknowledged. If it is never answered, it stays open in the ledger."""
        if not is_in_ledger:
            self._ledger.note_sent(sending.items)
        answer = self._send_until_final(sending)
        if answer and answer.status < 300:
            self._ledger.note_acknowledged(sending.items + sending.each_time)
            if not sending.each_time and (sending.idempotency_key or b"reportId" in sending.body):
                self._delivered = [*self._delivered[-200:], (sending, answer.body)]
        elif answer:
            self.surprises[f"{sending.path}: {answer.status} {answer.problem.get('code', '')}"] += 1

    def _send_until_final(self, sending: Sending) -> Answer | None:
        """Repeat a request, as the documentation says, until its final answer. Return None if none comes in time."""
        for pause in self._pauses():
            self._ledger.note_sent(sending.each_time)
            answer = self._send(sending)
            if answer and answer.status >= 500 and answer.status != 503:
                self.surprises[f"{sending.path}: {answer.status}"] += 1
            elif answer and not answer.is_temporary:
                return answer
            if self._is_ending.is_set() and time.monotonic() > self._last_moment:
                return None
            time.sleep(max(pause, answer.wait if answer else 0.0))
        raise AssertionError("unreachable: the pauses do not end")

    def _pauses(self) -> Iterator[float]:
        for number in itertools.count():
            yield self._chance.uniform(0, min(2.0, 0.1 * 2.0 ** min(number, 10)))

    def _send(self, sending: Sending) -> Answer | None:
        """Return the answer; None if the connection broke."""
        try:
            self._connection = self._connection or self._connect()
            self._connection.request("POST", sending.path, sending.body, self._headers(sending))
            response = self._connection.getresponse()
            answer = Answer(response.status, response.read(), dict(response.headers))
        except (OSError, http.client.HTTPException):
            self.statuses["closed"] += 1
            if self._connection:
                self._connection.close()
            self._connection = None
            return None
        self.statuses[str(answer.status)] += 1
        return answer

    @contextmanager
    def _count_breaks(self) -> Iterator[None]:
        try:
            yield
        except (OSError, http.client.HTTPException):
            self.statuses["closed"] += 1

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._target.hostname or "", self._target.port, timeout=60)

    def _headers(self, sending: Sending) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "x-service-api-key": self._key}
        return {**headers, "Idempotency-Key": sending.idempotency_key} if sending.idempotency_key else headers


def dump(value: Any) -> bytes:
    return json.dumps(value).encode()
