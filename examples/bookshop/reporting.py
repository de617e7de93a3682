"""What the shop tells the hub: the shapes of its traffic and the outcomes of conversations; never a value."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs

from affidavit import (
    ABSENT,
    InvalidJson,
    Observations,
    ReportError,
    describe,
    infer,
    parse_json,
    report_outcomes,
    send_observations,
    template,
)

EVERY = 60.0  # seconds between two witness reports, when there is nothing new
MAX_WAITING = 10_000  # outcomes that are kept while the hub is away
MAX_SHAPES = 5_000  # that are remembered as not new
MAX_BODY = 1024 * 1024


class Reporting:
    """Collects in any thread, sends from one. hub: how to reach it, as the SDK's functions take it."""

    def __init__(self, api_key: str, environment: str, *, now: Callable[[], float] = time.time, **hub: Any) -> None:
        self._hub = {"api_key": api_key, "environment": environment, **hub}
        self._now = now
        self._lock = threading.Lock()
        self._outcomes: deque[tuple[str, str]] = deque(maxlen=MAX_WAITING)
        self._observations = Observations()
        self._unsent: list[Any] = []
        self._shapes: set[str] = set()
        self._sent_at = now()
        self._something_new = self._is_live = False
        self._stopped = threading.Event()

    def outcome(self, conversation_id: str, key: str) -> None:
        with self._lock:
            self._outcomes.append((conversation_id, key))

    def saw(self, method: str, path: str, query: str, status: int, request: Any, response: Any) -> None:
        """One request and its response. The bodies are looked at here and not kept."""
        place = template(path)
        shape = self._is_live and json.dumps([method, place.path, status, *map(plain_shape, (request, response))])
        with self._lock:
            self._observations.add(
                method, place, status, at=self._now(), query=parse_qs(query) if query else None,
                request=request, response=response,
            )  # fmt: skip
            if shape and shape not in self._shapes and len(self._shapes) < MAX_SHAPES:
                self._shapes.add(shape)
                self._something_new = True

    def send_outcomes(self) -> None:
        """As they happen. Those that the hub could not take now wait for the next time."""
        with self._lock:
            waiting = list(self._outcomes)
            self._outcomes.clear()
        if not waiting:
            return
        try:
            report_outcomes(outcomes=waiting, **self._hub)
        except ReportError as failure:
            with self._lock:
                self._outcomes.extendleft(reversed(waiting[failure.sent :]))
            raise

    def send_observations(self) -> None:
        with self._lock:
            entries = [*self._unsent, *self._observations.entries()]
            self._observations, self._unsent = Observations(), []
            self._something_new, self._sent_at = False, self._now()
        try:
            send_observations(entries, **self._hub)
        except ReportError as failure:
            self._unsent = entries[failure.sent :][:MAX_WAITING]
            raise

    def start(self) -> None:
        """Send from now on by itself: outcomes every second, shapes every minute, sooner when there is a new one."""
        self._is_live = True
        threading.Thread(target=self._run, name="bookshop-reporting", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(1.0):
            try:
                self.send_outcomes()
                if self._something_new or self._now() - self._sent_at > EVERY:
                    self.send_observations()
            except ReportError as failure:
                if failure.status == 401:  # the key was revoked: there is nobody to report to
                    return


def plain_shape(value: Any) -> Any:
    return None if value is ABSENT else describe(infer(value), counts=False)


class Witnessed:
    """Around the shop's app, intents included: shows every request and its response to `reporting`."""

    def __init__(self, app: Any, reporting: Reporting) -> None:
        self._app = app
        self._reporting = reporting

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        asked = environ["wsgi.input"].read(min(int(environ.get("CONTENT_LENGTH") or 0), MAX_BODY))
        environ["wsgi.input"] = BytesIO(asked)
        begun: list[Any] = []

        def noted(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            begun[:] = [status, dict(headers).get("Content-Type", "")]
            return start_response(status, headers, exc_info) if exc_info else start_response(status, headers)

        answered = b"".join(self._app(environ, noted))
        status, content_type = begun
        self._reporting.saw(
            environ["REQUEST_METHOD"], environ["PATH_INFO"], environ["QUERY_STRING"], int(status[:3]),
            json_of(asked, environ.get("CONTENT_TYPE", "")), json_of(answered, content_type),
        )  # fmt: skip
        return [answered]


def json_of(body: bytes, content_type: str) -> Any:
    """ABSENT for what is no JSON."""
    if not body or "json" not in content_type:
        return ABSENT
    try:
        return parse_json(body)
    except InvalidJson:
        return ABSENT
