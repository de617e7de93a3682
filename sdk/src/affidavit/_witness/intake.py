"""Where the host's threads leave what they saw: a count for each request, and bodies that are worth a look.

Bodies are queued as bytes and read in the reporter's thread, not in the host's: reading takes as long as the app took
to write them, which one request would have to wait for, and in an event loop all of them. The queue is bounded; what
finds no room is counted without its shape.
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

from .bodies import Raw, Unread
from .observations import SECONDS_A_DAY, Sum
from .sampling import Pace

MAX_QUEUED = 10_000  # exchanges
MAX_QUEUED_BYTES = 8 * 1024 * 1024
STAND_INS = {"integer": "10", "string": "00000000-0000-0000-0000-000000000000"}


class Operation:
    """One method, path and status as this process has seen it.

    template: None where the path is to be learned. known, facts: what its bodies have looked like; for the one thread
    that looks at them.
    """

    __slots__ = ("facts", "known", "method", "pace", "path", "status", "template")

    def __init__(self, method: str, path: str, status: int, template: Template | None) -> None:
        self.method, self.path, self.status, self.template = method, path, status, template
        self.pace = Pace()
        self.known = Sum(first=0, last=0)
        self.facts = 0


class Tally:
    """How often, first and last: Unix seconds."""

    __slots__ = ("count", "first", "last")

    def __init__(self, at: float) -> None:
        self.count, self.first, self.last = 0, at, at


Tallies = dict[tuple[Operation, int], Tally]
"""By operation and day since 1970-01-01 UTC."""


class Seen(NamedTuple):
    """An exchange that is worth a look. path: raw, where the framework has told no route, else empty."""

    operation: Operation
    path: str
    at: float
    query: str
    request: Raw | Unread | None
    response: Raw | Unread | None

    @property
    def size(self) -> int:
        """Bytes that are held for it."""
        bodies = (self.request, self.response)
        return len(self.query) + sum(len(body.data) for body in bodies if isinstance(body, Raw))


class Intake:
    """Shared by all threads of the host. Every request that is `taken` is in a tally or in one of the other counts.

    dropped: there was no room even for a count. ignored: 404, 405 and 501 where nothing else was ever answered, and
    what can be no operation. unlooked: counted without their bodies, because the shape has settled.
    """

    def __init__(self, max_operations: int) -> None:
        self._lock = threading.Lock()
        self._max_operations = max_operations
        self._routed: dict[tuple[str, str, int], Operation] = {}
        self._unrouted: dict[tuple[str, str, int], Operation] = {}
        self._places: set[tuple[str, str]] = set()  # methods and paths of the unrouted
        self._queue: list[Seen] = []
        self._queued_bytes = 0
        self._tallies: Tallies = {}
        self.taken = self.dropped = self.ignored = self.unlooked = 0
        self.left_out: Counter[Unread] = Counter()
        self.has_new_operation = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits to be drained."""
        return not (self._queue or self._tallies)

    def take(
        self,
        method: str,
        path: str,
        status: int,
        template: Template | None,
        *,
        at: float,
        now: float,
        query: str,
        request: Raw | Unread | None,
        response: Raw | Unread | None,
    ) -> bool:
        """One exchange; whether there is something now where there was nothing. path: raw. now: never goes back."""
        place = template.path if template else without_data(path)
        with self._lock:
            self.taken += 1
            operation = self._operation(method, place, status, template)
            if operation is None:
                return False
            was_empty = not self._tallies
            self._tally(operation, at)
            if not operation.pace.wants(now):
                self.unlooked += 1
                return was_empty
            self.left_out.update(body for body in (request, response) if isinstance(body, Unread))
            seen = Seen(operation, "" if template else path, at, query, request, response)
            return self._enqueue(seen) or was_empty

    def refuse(self) -> None:
        """One exchange that came too late, or that could not be understood."""
        with self._lock:
            self.taken += 1
            self.dropped += 1

    def ignore(self) -> None:
        """One that can be no operation."""
        with self._lock:
            self.taken += 1
            self.ignored += 1

    def drain(self) -> list[Seen]:
        """What is to be looked at; its counts stay."""
        with self._lock:
            return self._drained()

    def drain_all(self) -> tuple[list[Seen], Tallies]:
        """The same with the counts of all that was drained up to now."""
        with self._lock:
            tallies, self._tallies = self._tallies, {}
            return self._drained(), tallies

    def leave_out(self, why: Unread) -> None:
        """Counts a body that was drained and could not be read."""
        with self._lock:
            self.left_out[why] += 1

    def drop(self, count: int) -> None:
        """Counts requests whose counts were drained and could not be kept."""
        with self._lock:
            self.dropped += count

    def looked(self, operation: Operation, *, news: bool) -> None:
        """What a look came to."""
        with self._lock:
            operation.pace.looked(news=news)

    def forget(self, operation: Operation) -> None:
        """One whose path was learned, and is known by a better name now."""
        with self._lock:
            self._unrouted.pop((operation.method, operation.path, operation.status), None)
            self._places.discard((operation.method, operation.path))

    def _operation(self, method: str, path: str, status: int, template: Template | None) -> Operation | None:
        known = self._routed if template else self._unrouted
        operation = known.get((method, path, status))
        if operation is not None:
            return operation
        if not path or not (template or status not in NO_OPERATION or (method, path) in self._places):
            self.ignored += 1
            return None
        if len(known) >= self._max_operations:
            self.dropped += 1
            return None
        operation = known[method, path, status] = Operation(method, path, status, template)
        if template is None:
            self._places.add((method, path))
        else:
            self.has_new_operation = True
        return operation

    def _tally(self, operation: Operation, at: float) -> None:
        key = (operation, int(at // SECONDS_A_DAY))
        tally = self._tallies.get(key)
        if tally is None:
            tally = self._tallies[key] = Tally(at)
        tally.count += 1
        tally.first, tally.last = min(tally.first, at), max(tally.last, at)

    def _enqueue(self, seen: Seen) -> bool:
        if not (seen.path or seen.query or isinstance(seen.request, Raw) or isinstance(seen.response, Raw)):
            return False
        if len(self._queue) >= MAX_QUEUED or self._queued_bytes + seen.size > MAX_QUEUED_BYTES:
            self.left_out[Unread.NO_ROOM] += 1
            return False
        self._queue.append(seen)
        self._queued_bytes += seen.size
        return len(self._queue) == 1

    def _drained(self) -> list[Seen]:
        queue, self._queue = self._queue, []
        self._queued_bytes = 0
        return queue


def without_data(path: str) -> str:
    """A raw path in which other data stands where its data stood, so that none is held and all such paths are one.

    The template of both is the same. Empty for what can be no path of an operation.
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
            segments[index] = STAND_INS[infer_parameter_type(segment)]
        leading = leading and scaffold
    return "/".join(segments)
