"""What can go wrong, as a tree: catch `AffidavitError` for all of it.

No message holds a key, a secret or a body value.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

SHOWN_FAULTS = 3


class Fault(NamedTuple):
    """One thing wrong with what was sent: where (an RFC 6901 pointer), a stable code, what to do."""

    pointer: str
    code: str
    detail: str


class AffidavitError(Exception):
    """Anything that this package raises by design."""


class HarError(AffidavitError):
    """A HAR file that cannot be read whole. Its message is one line and ends in what to do."""


class ReportError(AffidavitError):
    """Something was not delivered, or not taken.

    code: stable and listed in the hub's docs; local ones are `missing-api-key`, `publishable-key-refused`,
        `invalid-api-key`, `invalid-base-url`, `invalid-request`, `bad-answer`, `redirected`, `unreachable`.
    status: the HTTP status, None when nothing was answered.
    detail: in plain words, what to do next.
    errors: the faults that the hub named; their pointers lead into what was given to the function.
    request_id: what the hub calls this request in its log, None when it did not say.
    sent: how many items were delivered before this one failed.
    """

    def __init__(
        self,
        detail: str,
        *,
        code: str = "failed",
        status: int | None = None,
        errors: Sequence[Fault] = (),
        request_id: str | None = None,
        sent: int = 0,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code
        self.status = status
        self.errors = tuple(errors)
        self.request_id = request_id
        self.sent = sent

    def after(self, sent: int, member: str) -> "ReportError":
        """This error as the whole list sees it, of which `sent` items went before the failing request.

        member: the name under which the request carries its part of the list.
        """
        begin = re.compile(rf"/{member}/(\d+)")
        self.sent = sent
        self.errors = tuple(
            fault._replace(pointer=begin.sub(lambda at: f"/{member}/{int(at[1]) + sent}", fault.pointer, count=1))
            for fault in self.errors
        )
        return self

    def __str__(self) -> str:
        return " ".join([self.detail, *self._first_faults(), f"({', '.join(self._marks())})"])

    def _first_faults(self) -> list[str]:
        shown = [f"{fault.pointer}: {fault.detail}" for fault in self.errors[:SHOWN_FAULTS]]
        more = len(self.errors) - len(shown)
        return [*shown, f"… and {more} more."] if more else shown

    def _marks(self) -> list[str]:
        marks = [self.code]
        if self.status is not None:
            marks.append(f"HTTP {self.status}")
        if self.request_id:
            marks.append(f"request {self.request_id}")
        if self.sent:
            marks.append(f"{self.sent} delivered before")
        return marks


class HubUnreachable(ReportError):
    """Not one answer in all the tries: the hub, or the way to it, is down. Nothing is known to be stored."""
