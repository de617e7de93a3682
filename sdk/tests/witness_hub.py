"""A hub for live reporters: tells rules, takes reports, and is away when it is told to be."""

import json
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from scripted_hub import Handler, answer

from affidavit import HubUnreachable, Witness, make_key

KEY = make_key("gak_")
AWAY = HubUnreachable("No answer.", code="unreachable")
JSON = "application/json"
PATH = "/api/witness-reports"
ORDERS = {"route": "/orders/<int:pk>"}


class Hub:
    """A transport that writes down what is sent."""

    def __init__(self, *rules: Mapping[str, str], faults: Sequence[Exception | None] = (), untold: Any = None) -> None:
        """faults: raised for the first reports, one each. untold: raised in place of the rules, while it is set."""
        self.rules, self.faults, self.untold = rules, list(faults), untold
        self.asked: list[str] = []
        self.bodies: list[bytes] = []
        self.tried: list[bytes] = []

    def get_json(self, path: str, headers: Mapping[str, str]) -> Any:
        self.asked.append(path)
        if self.untold:
            raise self.untold
        return {"rules": list(self.rules)}

    def post_json(self, path: str, body: bytes, headers: Mapping[str, str]) -> Any:
        assert path == PATH
        self.tried.append(body)
        if self.faults and (fault := self.faults.pop(0)):
            raise fault
        self.bodies.append(body)
        return {"accepted": 1, "reportId": "x"}

    @property
    def entries(self) -> list[Any]:
        return [entry for body in self.bodies for entry in json.loads(body)["observations"]]

    @property
    def counts(self) -> dict[tuple[str, str, int], int]:
        """Requests told, by method, path and status."""
        return counted(self.entries)


def counted(entries: Sequence[Any]) -> dict[tuple[str, str, int], int]:
    sums: dict[tuple[str, str, int], int] = {}
    for entry in entries:
        key = (entry["method"], entry["path"], entry["status"])
        sums[key] = sums.get(key, 0) + entry["count"]
    return sums


def told(received: Sequence[Any]) -> list[Any]:
    """The entries of all reports that a scripted hub has received."""
    return [entry for one in received if one.path == PATH for entry in one.json["observations"]]


def witness(hub: Any = None, **options: Any) -> Witness:
    """One that reports when it is flushed; `close_all` ends those of a test."""
    _made.append(Witness(KEY, transport=hub or Hub(), **{"interval": 3600, **options}))
    return _made[-1]


_made: list[Witness] = []


def close_all() -> None:
    while _made:
        _made.pop().close(0.2)


def takes_all(handler: Handler) -> None:
    """A step of a scripted hub: no rules, and every report is taken."""
    answer(200, {"rules": [], "accepted": 1, "recorded": 1})(handler)


def seen(witness: Witness, path: str = "/orders/17", body: Any = None, status: int = 200, **facts: Any) -> None:
    """One GET whose response is `body` as JSON; without a body if None."""
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    witness.observe("GET", path, status, **{"response_body": data, "response_content_type": JSON, **facts})


def until(true: Any, seconds: float = 10) -> bool:
    """Whether it became true in time."""
    deadline = time.monotonic() + seconds
    while not (done := true()) and time.monotonic() < deadline:
        threading.Event().wait(0.01)
    return bool(done)
