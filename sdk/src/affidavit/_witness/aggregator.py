"""Aggregate the intake: bodies become evidence, raw paths become templates or are held back (contract §4).

Only the reporter's thread runs this. No value is kept: a body is dropped once it is inspected, and of a path only its
words are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import parse_qs

from affidavit._hub.report_times import bound_moment
from affidavit._json import ABSENT, Absent, Json
from affidavit._paths.learner import Learner
from affidavit._paths.routes import UNKNOWN
from affidavit._paths.template_limits import is_too_long
from affidavit._paths.templates import Template, template
from affidavit._shapes.evidence import Evidence
from affidavit._shapes.form_fields import FormFields
from affidavit._shapes.redaction import Redactor

from .bodies import RawBody, Unread, is_piece, read_body
from .intake import Intake, Operation, QueuedExchange, Tally
from .observations import PARTS, SECONDS_A_DAY, EntryKey, EntrySum, Observations
from .parameter_types import infer_types, merge_types

_MAX_FACTS = 200_000
"""Limit on the names and types of all known shapes; beyond it, new shapes are not kept."""

_DAYS_KEPT = 4
"""How many days of sums are kept per operation while the hub cannot be reached."""

_NO_EVIDENCE = Evidence()


class Aggregator:
    """Sum up an intake by operation and UTC day.

    has_news: whether an operation with a route has a name or type that was not reported yet.
    held_back: the number of requests whose path may hold a value.
    """

    def __init__(
        self, intake: Intake, redactor: Redactor, *, max_body: int, max_operations: int, send_undecided: bool = False
    ) -> None:
        self._intake = intake
        self._redactor = redactor
        self._max_body = max_body
        self._max_sums = _DAYS_KEPT * max_operations
        self._max_undecided = max(1, max_operations // 2)
        self._send_undecided = send_undecided
        self._learner = Learner()
        self._sums: dict[tuple[Operation, int], EntrySum] = {}
        self._facts = 0
        self.has_news = False
        self.held_back = 0

    def inspect_queue(self) -> None:
        """Inspect the queued bodies, so that they can be released."""
        self._inspect_all(self._intake.drain())

    def collect(self, now: float) -> Observations:
        """Return all sums that may be reported, and forget them.

        now: Unix seconds.
        """
        self._intake.has_new_operation = False
        queue, tallies = self._intake.drain_all()
        self._inspect_all(queue)
        self.has_news = False
        for (operation, day), tally in tallies.items():
            self._count(operation, day, tally)
        observations = Observations()
        held_back = dict[tuple[Operation, int], EntrySum]()
        sums, self._sums = self._sums, held_back
        for (operation, day), total in sums.items():
            path_template = _build_typed_template(operation) or self._learner.template(operation.path)
            if path_template.undecided and not self._send_undecided:
                held_back[operation, day] = total
            elif is_too_long(path_template.path):
                self._intake.drop(total.count)
            else:
                total.first = bound_moment(total.first, now)
                total.last = max(total.first, bound_moment(total.last, now))
                day = int(total.last // SECONDS_A_DAY)
                key = EntryKey(path_template.path, operation.method, operation.status, day, operation.key.media_types)
                observations.absorb(key, path_template, total)
                self._forget_if_renamed(operation, path_template)
        self._drop_longest_undecided()
        self._intake.note_report()
        self.held_back = sum(total.count for total in held_back.values())
        return observations

    def _drop_longest_undecided(self) -> None:
        """Drop the paths that were undecided for longest. New paths need the room, and may help to decide the rest."""
        for operation, day in list(self._sums)[: -self._max_undecided]:
            self._intake.drop(self._sums.pop((operation, day)).count)
            self._forget(operation)

    def _inspect_all(self, queue: Iterable[QueuedExchange]) -> None:
        for exchange in queue:
            try:
                self._inspect(exchange)
            except Exception:  # the host's own redactor may raise anything; the request is counted without a shape
                self._intake.leave_out(Unread.UNREDACTED)

    def _inspect(self, exchange: QueuedExchange) -> None:
        operation = exchange.operation
        request = self._read_body(exchange.request)
        response = self._omit_piece(operation.status, _omit_form(self._read_body(exchange.response)))
        query = parse_qs(exchange.query, keep_blank_values=True) or None
        if operation.template is None:
            self._learn(exchange, _omit_form(request), response)
        elif operation.value_types:
            _note_types(operation, operation.template, exchange.path)
        observations = Observations(redactor=self._redactor)
        observations.add(
            operation.method, Template(operation.path), operation.status,
            at=exchange.moment, query=query, request=request, response=response,
        )  # fmt: skip
        for key, part in observations.sums().items():
            part.count = 0  # the tally counts the request
            self._add(operation, key.day, part)

    def _add(self, operation: Operation, day: int, part: EntrySum) -> None:
        new_facts = _count_news(operation.evidence, part)
        fits = self._facts + new_facts <= _MAX_FACTS
        self._intake.note_inspection(operation, news=fits and bool(new_facts))
        if not fits:
            self._intake.leave_out(Unread.NO_ROOM)
            return
        total = self._find_sum(operation, day, part.first)
        if total is None:
            return
        total.add(part)
        if new_facts:
            operation.evidence.add(part)
            operation.facts += new_facts
            self._facts += new_facts
            self.has_news = self.has_news or operation.template is not None

    def _count(self, operation: Operation, day: int, tally: Tally) -> None:
        total = self._find_sum(operation, day, tally.first)
        if total is None:
            self._intake.drop(tally.count)
            return
        total.count += tally.count
        total.first, total.last = min(total.first, tally.first), max(total.last, tally.last)

    def _find_sum(self, operation: Operation, day: int, moment: float) -> EntrySum | None:
        total = self._sums.get((operation, day))
        if total is None and len(self._sums) < self._max_sums:
            total = self._sums[operation, day] = EntrySum(first=moment, last=moment)
        return total

    def _learn(self, exchange: QueuedExchange, request: Json | Absent, response: Json | Absent) -> None:
        """Teach the learner, without dropped properties and without bodies on which the redactor raises."""
        operation = exchange.operation
        bodies: dict[str, Json | Absent] = {}
        try:
            bodies = {name: self._apply_drops(body) for name, body in (("request", request), ("response", response))}
        finally:
            self._learner.learn(operation.method, exchange.path, operation.status, **bodies)

    def _apply_drops(self, body: Json | Absent) -> Json | Absent:
        if isinstance(body, Absent) or not (self._redactor.drop or self._redactor.replace):
            return body
        return self._redactor.keep_values(body)

    def _read_body(self, body: RawBody | FormFields | Unread | None) -> Json | FormFields | Absent:
        if isinstance(body, FormFields):
            return body
        if not isinstance(body, RawBody):
            return ABSENT
        value = read_body(body, self._max_body)
        if not isinstance(value, Unread):
            return value
        self._intake.leave_out(value)
        return ABSENT

    def _omit_piece(self, status: int, response: Json | Absent) -> Json | Absent:
        if isinstance(response, Absent) or not is_piece(status, response):
            return response
        self._intake.leave_out(Unread.INCOMPLETE)
        return ABSENT

    def _forget_if_renamed(self, operation: Operation, path_template: Template) -> None:
        """Forget an operation if words of its path turned out to be values: the next such path is inspected again."""
        if operation.template is None and len(path_template.parameters) > len(template(operation.path).parameters):
            self._forget(operation)

    def _forget(self, operation: Operation) -> None:
        self._intake.forget(operation)
        self._facts -= operation.facts
        operation.facts = 0


def _omit_form(body: Json | FormFields | Absent) -> Json | Absent:
    """Return the body unless it is a form, because paths are not learned from forms."""
    return ABSENT if isinstance(body, FormFields) else body


def _note_types(operation: Operation, path_template: Template, path: str) -> None:
    """Record the types of the values in a raw path. For an error, texts are ignored: anybody can request any name."""
    for name, kind in infer_types(path_template.path, path):
        if name in operation.value_types and (operation.status < 400 or kind != "string"):
            operation.value_types[name] = merge_types(operation.value_types[name], kind)


def _build_typed_template(operation: Operation) -> Template | None:
    """Return the template of a route with the types of its values so far; None without a route.

    A parameter without a value so far is a string, or of unknown type if the status is an error.
    """
    if operation.template is None or not operation.value_types:
        return operation.template
    unseen = "string" if operation.status < 400 else UNKNOWN
    types = {name: unseen if kind == UNKNOWN else kind for name, kind in operation.value_types.items()}
    return replace(operation.template, parameters={**operation.template.parameters, **types})


def _count_news(known_sum: EntrySum, part: EntrySum) -> int:
    """Return how many facts (names, and types of values) `part` adds to `known_sum`."""
    return sum(_count_new_facts(getattr(known_sum, name), getattr(part, name)) for name in PARTS)


def _count_new_facts(known_evidence: Evidence, part: Evidence) -> int:
    facts = len(part.counts.keys() - known_evidence.counts.keys())
    for name, child in part.properties.items():
        known_child = known_evidence.values if known_evidence.collapsed else known_evidence.properties.get(name)
        facts += _count_new_facts(known_child or _NO_EVIDENCE, child)
    if part.items is not None:
        facts += _count_new_facts(known_evidence.items or _NO_EVIDENCE, part.items)
    if part.values is not None:
        facts += _count_new_facts(known_evidence.values or _NO_EVIDENCE, part.values)
    return facts
