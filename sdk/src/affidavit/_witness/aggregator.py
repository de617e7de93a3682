"""From what was seen to what is reported: bodies become evidence, raw paths become templates or are held back.

One thread works here. No value is held: a body is gone as soon as it was looked at, and of a path the words only.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import parse_qs

from affidavit._json import ABSENT, Absent, Json
from affidavit._paths.learner import Learner
from affidavit._paths.routes import MAX_BYTES
from affidavit._paths.templates import Template, template
from affidavit._shapes.redaction import Redactor

from .bodies import Raw, Unread, read
from .intake import Intake, Operation, Seen, Tally
from .news import news
from .observations import Key, Observations, Sum

MAX_FACTS = 200_000
"""Places and kinds of all shapes that are known; beyond them, bodies are no longer looked at."""

DAYS_HELD = 4
"""So many sums of each operation fit while the hub is away."""


class Digest:
    """Sums up what an intake took, by operation and UTC day.

    has_news: something was seen that no report has told yet, of an operation whose route is known. held_back:
    requests whose path may hold a value.
    """

    def __init__(
        self, intake: Intake, redactor: Redactor, *, max_body: int, max_operations: int, send_undecided: bool = False
    ) -> None:
        self._intake = intake
        self._redactor = redactor
        self._max_body = max_body
        self._max_sums = DAYS_HELD * max_operations
        self._max_held = max(1, max_operations // 2)
        self._send_undecided = send_undecided
        self._learner = Learner()
        self._sums: dict[tuple[Operation, int], Sum] = {}
        self._facts = 0
        self.has_news = False
        self.held_back = 0

    def look(self) -> None:
        """Look at the bodies that wait, so that they can be let go."""
        self._look_at(self._intake.drain())

    def report(self) -> Observations:
        """All that may be told; it is forgotten here."""
        self._intake.has_new_operation = False
        seen, tallies = self._intake.drain_all()
        self._look_at(seen)
        self.has_news = False
        for (operation, day), tally in tallies.items():
            self._count(operation, day, tally)
        told = Observations()
        held = dict[tuple[Operation, int], Sum]()
        waiting, self._sums = self._sums, held
        for (operation, day), total in waiting.items():
            found = operation.template or self._learner.template(operation.path)
            if found.undecided and not self._send_undecided:
                held[operation, day] = total
            elif len(found.path) > MAX_BYTES:
                self._intake.drop(total.count)
            else:
                told.absorb(Key(found.path, operation.method, operation.status, day), found, total)
                self._let_go_if_renamed(operation, found)
        self._make_room()
        self.held_back = sum(total.count for total in held.values())
        return told

    def _make_room(self) -> None:
        """The longest undecided go, so that there is always room for those that may decide the others."""
        for operation, day in list(self._sums)[: -self._max_held]:
            self._intake.drop(self._sums.pop((operation, day)).count)
            self._let_go(operation)

    def _look_at(self, waiting: Iterable[Seen]) -> None:
        for seen in waiting:
            try:
                self._look_at_one(seen)
            except Exception:  # a redactor of the host's own may raise anything; the count stands without a shape
                self._intake.leave_out(Unread.INVALID)

    def _look_at_one(self, seen: Seen) -> None:
        operation = seen.operation
        request, response = self._json(seen.request), self._json(seen.response)
        query = parse_qs(seen.query, keep_blank_values=True) or None
        if operation.template is None:
            self._learn(seen, request, response)
        one = Observations(redactor=self._redactor)
        one.add(
            operation.method, Template(operation.path), operation.status,
            at=seen.at, query=query, request=request, response=response,
        )  # fmt: skip
        for key, part in one.sums().items():
            part.count = 0  # the tally has it
            self._add(operation, key.day, part)

    def _add(self, operation: Operation, day: int, part: Sum) -> None:
        found = news(operation.known, part)
        fits = self._facts + found <= MAX_FACTS
        self._intake.looked(operation, news=fits and bool(found))
        if not fits:
            self._intake.leave_out(Unread.NO_ROOM)
            return
        total = self._sum(operation, day, part.first)
        if total is None:
            return
        total.add(part)
        if found:
            operation.known.add(part)
            operation.facts += found
            self._facts += found
            self.has_news = self.has_news or operation.template is not None

    def _count(self, operation: Operation, day: int, tally: Tally) -> None:
        total = self._sum(operation, day, tally.first)
        if total is None:
            self._intake.drop(tally.count)
            return
        total.count += tally.count
        total.first, total.last = min(total.first, tally.first), max(total.last, tally.last)

    def _sum(self, operation: Operation, day: int, at: float) -> Sum | None:
        known = self._sums.get((operation, day))
        if known is None and len(self._sums) < self._max_sums:
            known = self._sums[operation, day] = Sum(first=at, last=at)
        return known

    def _learn(self, seen: Seen, request: Json | Absent, response: Json | Absent) -> None:
        """What the redactor leaves out teaches nothing either."""
        bodies = {name: self._kept(body) for name, body in (("request", request), ("response", response))}
        self._learner.learn(seen.operation.method, seen.path, seen.operation.status, **bodies)

    def _kept(self, body: Json | Absent) -> Json | Absent:
        if isinstance(body, Absent) or not (self._redactor.drop or self._redactor.replace):
            return body
        return self._redactor.keep_values(body)

    def _json(self, body: Raw | Unread | None) -> Json | Absent:
        if not isinstance(body, Raw):
            return ABSENT
        value = read(body, self._max_body)
        if not isinstance(value, Unread):
            return value
        self._intake.leave_out(value)
        return ABSENT

    def _let_go_if_renamed(self, operation: Operation, found: Template) -> None:
        """Words that turned out to be values are not kept: the next such path is looked at anew."""
        if operation.template is None and len(found.parameters) > len(template(operation.path).parameters):
            self._let_go(operation)

    def _let_go(self, operation: Operation) -> None:
        self._intake.forget(operation)
        self._facts -= operation.facts
        operation.facts = 0
