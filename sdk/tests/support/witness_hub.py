"""A fake hub for witnesses: it answers with rules, accepts reports, and fails on demand."""

import json
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from affidavit import HubUnreachable, Witness, make_key
from support.scripted_hub import Handler, answer

KEY = make_key("gak_")
HUB_AWAY = HubUnreachable("No answer.", code="unreachable")
JSON = "application/json"
PATH = "/api/witness-reports"
ORDERS_ROUTE = {"route": "/orders/<int:pk>"}


class Hub:
    """A transport that records the requests."""

    def __init__(
        self, *rules: Mapping[str, str], faults: Sequence[Exception | None] = (), rules_fault: Any = None
    ) -> None:
        """Answer with rules and accept reports.

        faults: the errors to raise for the first reports, one each.
        rules_fault: the error to raise each time the rules are read; None to answer with them.
        """
        self.rules, self.faults, self.rules_fault = rules, list(faults), rules_fault
        self.rule_requests: list[str] = []
        self.bodies: list[bytes] = []
        self.attempts: list[bytes] = []

    def get_json(self, path: str, headers: Mapping[str, str]) -> Any:
        self.rule_requests.append(path)
        if self.rules_fault:
            raise self.rules_fault
        return {"rules": list(self.rules)}

    def post_json(self, path: str, body: bytes, headers: Mapping[str, str]) -> Any:
        assert path == PATH
        self.attempts.append(body)
        if self.faults and (fault := self.faults.pop(0)):
            raise fault
        self.bodies.append(body)
        return {"accepted": 1, "reportId": "x"}

    @property
    def entries(self) -> list[Any]:
        return [entry for body in self.bodies for entry in json.loads(body)["observations"]]

    @property
    def counts(self) -> dict[tuple[str, str, int], int]:
        """Return the number of reported requests by method, path and status."""
        return count_requests(self.entries)


def count_requests(entries: Sequence[Any]) -> dict[tuple[str, str, int], int]:
    sums: dict[tuple[str, str, int], int] = {}
    for entry in entries:
        key = (entry["method"], entry["path"], entry["status"])
        sums[key] = sums.get(key, 0) + entry["count"]
    return sums


def list_types(descriptor: Mapping[str, Any]) -> dict[str, str]:
    """Return the types of an object's properties by name: `string`, `array of string`, `binary string` for a file."""
    return {name: _name_type(child) for name, child in descriptor["properties"].items()}


def _name_type(descriptor: Mapping[str, Any]) -> str:
    name = f"{descriptor.get('format', '')} {descriptor['type']}".strip()
    return f"{name} of {_name_type(descriptor['items'])}" if "items" in descriptor else name


def read_entries(received: Sequence[Any]) -> list[Any]:
    """Return the entries of all reports that a scripted hub has received."""
    return [entry for request in received if request.path == PATH for entry in request.json["observations"]]


def make_witness(hub: Any = None, **options: Any) -> Witness:
    """Return a witness that reports only when it is flushed; `close_witnesses` closes it after the test."""
    _witnesses.append(Witness(KEY, transport=hub or Hub(), **{"interval": 3600, **options}))
    return _witnesses[-1]


_witnesses: list[Witness] = []


def close_witnesses() -> None:
    while _witnesses:
        _witnesses.pop().close(0.2)


def accept_all(handler: Handler) -> None:
    """Answer as a hub without rules that accepts every report."""
    answer(200, {"rules": [], "accepted": 1, "recorded": 1})(handler)


def observe_get(witness: Witness, path: str = "/orders/17", body: Any = None, status: int = 200, **facts: Any) -> None:
    """Observe one GET whose response is `body` as JSON; without a body if None."""
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    witness.observe("GET", path, status, **{"response_body": data, "response_content_type": JSON, **facts})


def wait_until(condition: Any, seconds: float = 10) -> bool:
    """Return whether the condition became true in time."""
    deadline = time.monotonic() + seconds
    while not (is_true := condition()) and time.monotonic() < deadline:
        threading.Event().wait(0.01)
    return bool(is_true)
