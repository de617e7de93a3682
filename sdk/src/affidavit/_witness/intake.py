"""The intake, which the host's threads fill: a count for each request, and a queue of bodies to be inspected.

Bodies are queued as bytes and parsed in the reporter's thread. Parsing takes as long as the app took to write them. In
the host's threads, a request or a whole event loop would have to wait for it. The queue is bounded; a body for which
there is no room is left out, but its request is counted.
"""

from __future__ import annotations

import threading
from collections import Counter
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, unquote

from affidavit._paths.embedded_values import replace_values
from affidavit._paths.learner import MAX_SEGMENTS
from affidavit._paths.no_operation_statuses import NO_OPERATION
from affidavit._paths.reported_operations import COMMON_METHODS, MAX_UNCOMMON
from affidavit._paths.routes import PATH_SAFE, build_route_template
from affidavit._paths.segment_form import detect_segment_form
from affidavit._paths.template_limits import MAX_BYTES
from affidavit._paths.templates import Template, infer_parameter_type
from affidavit._paths.versions import is_scaffold, may_be_version
from affidavit._shapes.form_fields import FormFields
from affidavit._shapes.media_types import ANY, drop_parameters

from .bodies import BODILESS, RawBody, Unread
from .observations import NO_MEDIA_TYPES, SECONDS_A_DAY, EntrySum, MediaTypes, find_media_types
from .parameter_types import find_unknown
from .sampling import Pace

MAX_OPERATIONS = 2_000
"""How many operations with a route are kept, and as many without one, unless the app says otherwise."""
_MAX_QUEUED = 10_000  # exchanges
_MAX_WAITING = 256  # queued exchanges of one operation; its shape settles after far fewer
MAX_QUEUED_BYTES = 8 * 1024 * 1024
_MAX_VARIANTS = 12  # media types of one method, path and status; all further ones are counted as ANY
_ANY_TYPES = MediaTypes(ANY, ANY)
_PLACEHOLDERS = {"integer": "10", "string": "00000000-0000-0000-0000-000000000000"}


class OperationKey(NamedTuple):
    """The members in which the requests of one `Operation` agree.

    path: the template of the route, or without a route the raw path with placeholders for its data.
    """

    method: str
    path: str
    status: int
    media_types: MediaTypes = NO_MEDIA_TYPES


def find_key(
    method: str, status: int, route: str | None, request_content_type: str | None, response_content_type: str | None
) -> OperationKey | None:
    """Return the key of a request with this route; None without a route, or if its template must be learned."""
    if route is None:
        return None
    media_types = drop_parameters(request_content_type), drop_parameters(response_content_type)
    return find_routed_key(method, route, status, *media_types)


@lru_cache(maxsize=2048)
def find_routed_key(
    method: str, route: str, status: int, request_content_type: str | None, response_content_type: str | None
) -> OperationKey | None:
    """Return the key of the requests of a framework's route; None if the template of their path must be learned.

    The result is cached, because adapters call this for every request, with the same few arguments.
    """
    template = build_route_template(route)
    if template is None:
        return None
    if method == "HEAD" or status in BODILESS:
        response_content_type = None
    media_types = find_media_types(status, request_content_type, response_content_type)
    return OperationKey(method, template.path, status, media_types)


class Operation:
    """One method, path, status and pair of media types as this process has seen it.

    template: None if the path is to be learned.
    value_types: the types of parameters whose type the route does not name, from the values so far.
    evidence, facts: the evidence of its bodies so far, and the number of facts in it; both are used by the reporter's
        thread alone.
    waiting: how many of its exchanges are in the queue.
    """

    __slots__ = ("evidence", "facts", "key", "method", "pace", "path", "status", "template", "value_types", "waiting")

    def __init__(self, key: OperationKey, template: Template | None) -> None:
        self.key, self.template = key, template
        self.method, self.path, self.status = key.method, key.path, key.status
        self.pace = Pace()
        self.value_types = find_unknown(template) if template else {}
        self.evidence = EntrySum(first=0, last=0)
        self.facts = self.waiting = 0

    @property
    def has_enough_waiting(self) -> bool:
        """Return whether enough exchanges are queued: no more are queued until these are inspected."""
        return self.waiting >= _MAX_WAITING


class Tally:
    """The number of requests of an operation, and the times of the first and the last in Unix seconds."""

    __slots__ = ("count", "first", "last")

    def __init__(self, moment: float) -> None:
        self.count, self.first, self.last = 0, moment, moment


Tallies = dict[tuple[Operation, int], Tally]
"""The tallies by operation and day, in days since 1970-01-01 UTC."""


class QueuedExchange(NamedTuple):
    """A request and its response, to be inspected.

    path: the raw path if the framework gave no route, or not the type of every parameter; else empty.
    """

    operation: Operation
    path: str
    moment: float
    query: str
    request: RawBody | FormFields | Unread | None
    response: RawBody | FormFields | Unread | None

    @property
    def size(self) -> int:
        """Return the number of bytes that the exchange takes in the queue."""
        return len(self.query) + sum(map(_measure_body, (self.request, self.response)))


def _measure_body(body: RawBody | FormFields | Unread | None) -> int:
    return len(body.data) if isinstance(body, RawBody) else body.size if isinstance(body, FormFields) else 0


class Intake:
    """The counts and the queue, shared by all threads of the host.

    request_count: all requests. Each is counted in a tally, as dropped or as ignored.
    dropped_count: requests that came too late, could not be understood, had no room even for a count, or whose report
        was lost.
    ignored_count: requests without a route that were answered with 404, 405 or 501, on a path that never gave another
        answer; and requests that cannot be an operation.
    uninspected_count: requests counted without their bodies, because the shape has settled, or enough bodies wait.
    """

    def __init__(self, max_operations: int) -> None:
        self._lock = threading.Lock()
        self._max_operations = max_operations
        self._routed_operations: dict[OperationKey, Operation] = {}
        self._unrouted_operations: dict[OperationKey, Operation] = {}
        self._variants: Counter[OperationKey] = Counter()  # how many keys differ in media types only
        self._unrouted_paths: set[tuple[str, str]] = set()  # method and path of each
        self._queue: list[QueuedExchange] = []
        self._queued_bytes = 0
        self._tallies: Tallies = {}
        self.request_count = self.dropped_count = self.ignored_count = self.uninspected_count = 0
        self.left_out: Counter[Unread] = Counter()
        self.has_new_operation = False
        self._room = max_operations  # for operations without a route, at the last report
        self._uncommon_count = 0  # operations of uncommon methods

    @property
    def is_filling_up(self) -> bool:
        """Return whether half of the room for operations without a route was used since the last report.

        Most of it is taken by values in paths: a report makes one operation of them.
        """
        return 2 * self._find_room() < self._room

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to drain."""
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
        request: RawBody | FormFields | Unread | None,
        response: RawBody | FormFields | Unread | None,
        media_types: MediaTypes = NO_MEDIA_TYPES,
    ) -> bool:
        """Count one request, and queue it if due. Return whether it is the first in the counts or in the queue.

        path: the raw path.
        now: monotonic seconds.
        """
        key = OperationKey(method, template.path if template else erase_data(path), status, media_types)
        with self._lock:
            self.request_count += 1
            operation = self._find_operation(key, template)
            if operation is None:
                return False
            was_empty = not self._tallies
            self._count(operation, moment)
            if operation.has_enough_waiting or not operation.pace.admits(now):
                self.uninspected_count += 1
                return was_empty
            self.left_out.update(body for body in (request, response) if isinstance(body, Unread))
            raw_path = path if template is None or operation.value_types else ""
            exchange = QueuedExchange(operation, raw_path, moment, query, request, response)
            return self._enqueue(exchange) or was_empty

    def count_settled(self, key: OperationKey, *, moment: float, now: float) -> bool | None:
        """Count one request if it need not be inspected, and return whether the intake was empty.

        Return None, and do not count the request, if it must be inspected.

        key: the key of a routed operation.
        """
        with self._lock:
            operation = self._routed_operations.get(key)
            if operation is None or not (operation.pace.skips(now) or operation.has_enough_waiting):
                return None
            self.request_count += 1
            self.uninspected_count += 1
            was_empty = not self._tallies
            self._count(operation, moment)
            return was_empty

    def refuse(self) -> None:
        """Count one request that came too late, or could not be understood."""
        with self._lock:
            self.request_count += 1
            self.dropped_count += 1

    def ignore(self) -> None:
        """Count one request that cannot be an operation."""
        with self._lock:
            self.request_count += 1
            self.ignored_count += 1

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
            self.dropped_count += count

    def note_inspection(self, operation: Operation, *, news: bool) -> None:
        """Record the result of one inspection."""
        with self._lock:
            operation.pace.adjust(news=news)

    def note_report(self) -> None:
        """Note the room for operations without a route that a report has left."""
        self._room = self._find_room()

    def forget(self, operation: Operation) -> None:
        """Forget an operation without a route, so that the next request of its path is inspected again."""
        with self._lock:
            if self._unrouted_operations.pop(operation.key, None):
                self._variants[operation.key._replace(media_types=NO_MEDIA_TYPES)] -= 1
                self._uncommon_count -= operation.method not in COMMON_METHODS
            self._unrouted_paths.discard((operation.method, operation.path))

    def _find_room(self) -> int:
        return self._max_operations - len(self._unrouted_operations)

    def _find_operation(self, key: OperationKey, template: Template | None) -> Operation | None:
        operations = self._routed_operations if template else self._unrouted_operations
        operation = operations.get(key)
        if operation is not None:
            return operation
        method_and_path = (key.method, key.path)
        if not key.path or not (template or key.status not in NO_OPERATION or method_and_path in self._unrouted_paths):
            self.ignored_count += 1
            return None
        family = key._replace(media_types=NO_MEDIA_TYPES)
        if self._variants[family] >= _MAX_VARIANTS and key.media_types != _ANY_TYPES:
            return self._find_operation(key._replace(media_types=_ANY_TYPES), template)
        is_uncommon = key.method not in COMMON_METHODS
        if len(operations) >= self._max_operations or (is_uncommon and self._uncommon_count >= MAX_UNCOMMON):
            self.dropped_count += 1
            return None
        self._uncommon_count += is_uncommon
        operation = operations[key] = Operation(key, template)
        self._variants[family] += 1
        if template is None:
            self._unrouted_paths.add(method_and_path)
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
            or isinstance(exchange.request, RawBody | FormFields)
            or isinstance(exchange.response, RawBody | FormFields)
        ):
            return False
        if len(self._queue) >= _MAX_QUEUED or self._queued_bytes + exchange.size > MAX_QUEUED_BYTES:
            self.left_out[Unread.NO_ROOM] += 1
            return False
        exchange.operation.waiting += 1
        self._queue.append(exchange)
        self._queued_bytes += exchange.size
        return len(self._queue) == 1

    def _empty_queue(self) -> list[QueuedExchange]:
        queue, self._queue = self._queue, []
        self._queued_bytes = 0
        for exchange in queue:
            exchange.operation.waiting = 0
        return queue


def erase_data(path: str) -> str:
    """Return a raw path with placeholders in place of its data.

    So no data is kept, and paths that differ in their data only are equal. The result has the same template as the
    path. It is empty for a path that no operation can have.
    """
    path = quote(path.partition("?")[0].partition("#")[0] or "/", safe=PATH_SAFE, errors="replace")
    segments = path.split("/")
    if segments[0] or len(segments) > MAX_SEGMENTS or len(path) > MAX_BYTES:
        return ""
    leading, decoded_segments = True, list(map(unquote, segments[1:]))
    for index, segment in enumerate(decoded_segments, 1):
        scaffold = is_scaffold(segment, leading=leading)
        version = index < len(decoded_segments) and may_be_version(segment, decoded_segments[: index - 1])
        if not (scaffold or version) and detect_segment_form(segment) is not None:
            segments[index] = _place_stand_in("", segment)
        else:
            segments[index] = replace_values(segments[index], _place_stand_in)
        leading = leading and scaffold
    return "/".join(segments)


def _place_stand_in(name: str, value: str) -> str:
    return _PLACEHOLDERS[infer_parameter_type(unquote(value))]
