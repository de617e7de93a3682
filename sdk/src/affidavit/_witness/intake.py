"""The intake of the host's threads: a count for each request, and a queue of bodies to be inspected.

Bodies are queued as bytes and parsed in the reporter's thread: parsing takes as long as the app took to write them,
and the request, or a whole event loop, would have to wait for it. The queue is bounded; a body without room is left
out, its request counted.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import NamedTuple
from urllib.parse import quote, unquote

from affidavit._paths.learner import MAX_SEGMENTS, NO_OPERATION
from affidavit._paths.routes import MAX_BYTES, PATH_SAFE
from affidavit._paths.templates import Template, infer_parameter_type, is_scaffold, may_be_version
from affidavit._shapes.data_like import detect_form

from .bodies import RawBody, Unread
from .observations import SECONDS_A_DAY, EntrySum
from .parameter_types import find_unknown
from .sampling import Pace

_MAX_QUEUED = 10_000  # exchanges
MAX_QUEUED_BYTES = 8 * 1024 * 1024
_PLACEHOLDERS = {"integer": "10", "string": "00000000-0000-0000-0000-000000000000"}


class Operation:
    """One method, path and status as this process has seen it.

    template: None if the path is to be learned. value_types: of the parameters of which the route names no type, by
    the values so far. known, facts: the evidence of its bodies so far, and the number of facts in it; all three are
    used by the reporter's thread alone.
    """

    __slots__ = ("facts", "known", "method", "pace", "path", "status", "template", "value_types")

    def __init__(self, method: str, path: str, status: int, template: Template | None) -> None:
        self.method, self.path, self.status, self.template = method, path, status, template
        self.pace = Pace()
        self.value_types = find_unknown(template) if template else {}
        self.known = EntrySum(first=0, last=0)
        self.facts = 0


class Tally:
    """How often an operation was requested, first and last in Unix seconds."""

    __slots__ = ("count", "first", "last")

    def __init__(self, moment: float) -> None:
        self.count, self.first, self.last = 0, moment, moment


Tallies = dict[tuple[Operation, int], Tally]
"""By operation and day since 1970-01-01 UTC."""


class QueuedExchange(NamedTuple):
    """A request and its response, to be inspected. path: raw if the framework gave no route or no type, else empty."""

    operation: Operation
    path: str
    moment: float
    query: str
    request: RawBody | Unread | None
    response: RawBody | Unread | None

    @property
    def size(self) -> int:
        """Bytes that it takes in the queue."""
        bodies = (self.request, self.response)
        return len(self.query) + sum(len(body.data) for body in bodies if isinstance(body, RawBody))


class Intake:
    """Shared by all threads of the host. Every `observed` request is in a tally or in one of the other counts.

    dropped: no room even for a count. ignored: 404, 405 and 501 where nothing else was ever answered, and requests
    that can be no operation. unlooked: counted without their bodies, because the shape has settled.
    """

    def __init__(self, max_operations: int) -> None:
        self._lock = threading.Lock()
        self._max_operations = max_operations
        self._routed: dict[tuple[str, str, int], Operation] = {}
        self._unrouted: dict[tuple[str, str, int], Operation] = {}
        self._unrouted_paths: set[tuple[str, str]] = set()  # with their methods
        self._queue: list[QueuedExchange] = []
        self._queued_bytes = 0
        self._tallies: Tallies = {}
        self.observed = self.dropped = self.ignored = self.unlooked = 0
        self.left_out: Counter[Unread] = Counter()
        self.has_new_operation = False

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to drain."""
        return not (self._queue or self._tallies)

    def take(
        self,
        method: str,
        path: str,
        status: int,
        template: Template | None,
        *,
        moment: float,
        now: float,
        query: str,
        request: RawBody | Unread | None,
        response: RawBody | Unread | None,
    ) -> bool:
        """Count one request, and queue it if due. Return whether the intake was empty. path: raw. now: monotonic."""
        operation_path = template.path if template else erase_data(path)
        with self._lock:
            self.observed += 1
            operation = self._find_operation(method, operation_path, status, template)
            if operation is None:
                return False
            was_empty = not self._tallies
            self._count(operation, moment)
            if not operation.pace.admits(now):
                self.unlooked += 1
                return was_empty
            self.left_out.update(body for body in (request, response) if isinstance(body, Unread))
            raw_path = path if template is None or operation.value_types else ""
            exchange = QueuedExchange(operation, raw_path, moment, query, request, response)
            return self._enqueue(exchange) or was_empty

    def count_settled(self, key: tuple[str, str, int], *, moment: float, now: float) -> bool | None:
        """Count one request if it need not be inspected, and return whether the intake was empty; None if it must be.

        key: method, template and status of a routed operation.
        """
        with self._lock:
            operation = self._routed.get(key)
            if operation is None or not operation.pace.skips(now):
                return None
            self.observed += 1
            self.unlooked += 1
            was_empty = not self._tallies
            self._count(operation, moment)
            return was_empty

    def refuse(self) -> None:
        """Count one request that came too late, or could not be understood."""
        with self._lock:
            self.observed += 1
            self.dropped += 1

    def ignore(self) -> None:
        """Count one request that can be no operation."""
        with self._lock:
            self.observed += 1
            self.ignored += 1

    def drain(self) -> list[QueuedExchange]:
        """Empty the queue and return it; the counts stay."""
        with self._lock:
            return self._empty_queue()

    def drain_all(self) -> tuple[list[QueuedExchange], Tallies]:
        """Empty the queue and the counts, and return both."""
        with self._lock:
            tallies, self._tallies = self._tallies, {}
            return self._empty_queue(), tallies

    def leave_out(self, reason: Unread) -> None:
        """Count a body that was drained and could not be read."""
        with self._lock:
            self.left_out[reason] += 1

    def drop(self, count: int) -> None:
        """Count requests whose counts were drained and could not be kept."""
        with self._lock:
            self.dropped += count

    def note_inspection(self, operation: Operation, *, news: bool) -> None:
        """Record the result of one inspection."""
        with self._lock:
            operation.pace.adjust(news=news)

    def forget(self, operation: Operation) -> None:
        """Forget an operation whose learned path has another template now."""
        with self._lock:
            self._unrouted.pop((operation.method, operation.path, operation.status), None)
            self._unrouted_paths.discard((operation.method, operation.path))

    def _find_operation(self, method: str, path: str, status: int, template: Template | None) -> Operation | None:
        operations = self._routed if template else self._unrouted
        operation = operations.get((method, path, status))
        if operation is not None:
            return operation
        if not path or not (template or status not in NO_OPERATION or (method, path) in self._unrouted_paths):
            self.ignored += 1
            return None
        if len(operations) >= self._max_operations:
            self.dropped += 1
            return None
        operation = operations[method, path, status] = Operation(method, path, status, template)
        if template is None:
            self._unrouted_paths.add((method, path))
        else:
            self.has_new_operation = True
        return operation

    def _count(self, operation: Operation, moment: float) -> None:
        key = (operation, int(moment // SECONDS_A_DAY))
        tally = self._tallies.get(key)
        if tally is None:
            tally = self._tallies[key] = Tally(moment)
        tally.count += 1
        if moment > tally.last:
            tally.last = moment
        elif moment < tally.first:
            tally.first = moment

    def _enqueue(self, exchange: QueuedExchange) -> bool:
        if not (
            exchange.path
            or exchange.query
            or isinstance(exchange.request, RawBody)
            or isinstance(exchange.response, RawBody)
        ):
            return False
        if len(self._queue) >= _MAX_QUEUED or self._queued_bytes + exchange.size > MAX_QUEUED_BYTES:
            self.left_out[Unread.NO_ROOM] += 1
            return False
        self._queue.append(exchange)
        self._queued_bytes += exchange.size
        return len(self._queue) == 1

    def _empty_queue(self) -> list[QueuedExchange]:
        queue, self._queue = self._queue, []
        self._queued_bytes = 0
        return queue


def erase_data(path: str) -> str:
    """Return a raw path with placeholders in place of its data, so that none is kept and all such paths are equal.

    Both have the same template. Empty for a path that no operation has.
    """
    path = quote(path.partition("?")[0].partition("#")[0] or "/", safe=PATH_SAFE, errors="replace")
    segments = path.split("/")
    if segments[0] or len(segments) > MAX_SEGMENTS or len(path) > MAX_BYTES:
        return ""
    leading = True
    for index, segment in enumerate(map(unquote, segments[1:]), 1):
        scaffold = is_scaffold(segment, leading=leading)
        version = index == 1 < len(segments) - 1 and may_be_version(segment)
        if not (scaffold or version) and detect_form(segment) is not None:
            segments[index] = _PLACEHOLDERS[infer_parameter_type(segment)]
        leading = leading and scaffold
    return "/".join(segments)
