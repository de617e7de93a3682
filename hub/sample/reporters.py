"""The reporters of the sample's history: the faces of the SDK's, at a time that is set, sent when they are told to.

The SDK's own send from a thread of theirs; a day of the history is one transaction, which is this thread's.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import parse_qs
from uuid import uuid4

from affidavit import (
    ABSENT,
    InvalidJson,
    Observations,
    parse_json,
    report_outcomes,
    send_observations,
    template,
)

MAX_ITEMS = 500
QUARTER = 900  # seconds of the hub's tallies


class Outcomes:
    """In place of an OutcomeReporter."""

    def __init__(self, **way: Any) -> None:
        self._way = way
        self._waiting: list[tuple[str, str]] = []

    def report(self, conversation_id: str, outcome_key: str) -> None:
        self._waiting.append((conversation_id, outcome_key))

    def send(self) -> None:
        if self._waiting:
            report_outcomes(outcomes=self._waiting, **self._way)
            self._waiting = []


class Shapes:
    """In place of a Witness."""

    max_body = 1024 * 1024

    def __init__(self, now: Callable[[], float], **way: Any) -> None:
        self._now = now
        self._way = way
        self._observations = Observations()

    def observe(
        self, method: str, path: str, status: int, *, query: str = "", request_body: Any = None,
        response_body: Any = None, **_: Any,
    ) -> None:  # fmt: skip
        self._observations.add(
            method, template(path), status, at=self._now(), query=parse_qs(query) if query else None,
            request=json_of(request_body), response=json_of(response_body),
        )  # fmt: skip

    def send(self) -> None:
        send_observations(self._observations.entries(), **self._way)
        self._observations = Observations()


class Verifications:
    """In place of VerificationReports."""

    def __init__(self, now: Callable[[], float], environment: str, transport: Any) -> None:
        self._now = now
        self._environment = environment
        self._transport = transport
        self._counts: Counter[tuple[Any, ...]] = Counter()

    def add(
        self, result: str, *, version: int | None = None, operation: str = "", tool_call_id: str | None = None
    ) -> None:
        named = tool_call_id if result != "accepted" else None
        self._counts[result, version, operation, named, int(self._now() // QUARTER) * QUARTER] += 1

    def send(self) -> None:
        for told in self._batches():
            document = {"environment": self._environment, "reportId": str(uuid4()), "verifications": told}
            self._transport.post_json("/api/verification-reports", json.dumps(document).encode(), {})
        self._counts.clear()

    def _batches(self) -> Iterator[Sequence[dict[str, Any]]]:
        names = ("result", "version", "operation", "toolCallId", "occurredAt", "count")
        items = [dict(zip(names, (*item, count), strict=True)) for item, count in self._counts.items()]
        told = [{name: value for name, value in item.items() if value} for item in items]
        yield from (told[start : start + MAX_ITEMS] for start in range(0, len(told), MAX_ITEMS))


def json_of(body: Any) -> Any:
    """ABSENT for what is no JSON."""
    try:
        return parse_json(body) if isinstance(body, bytes) and body else ABSENT
    except InvalidJson:
        return ABSENT
