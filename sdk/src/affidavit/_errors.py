"""The errors that this package raises, except for invalid values: catch `AffidavitError` for all of them.

An invalid value or text raises a ValueError, such as `InvalidJson`. No message holds a key, a secret or a body value.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

_MAX_FAULTS_SHOWN = 3
_MAX_SHOWN = 4_000
"""Characters of a message: whatever answers in place of the hub, or a database, must not fill a log."""


class Fault(NamedTuple):
    """One fault in a request.

    pointer: where it is (RFC 6901).
    code: a stable slug.
    detail: what to do.
    """

    pointer: str
    code: str
    detail: str


class AffidavitError(Exception):
    """The base class of the errors that this package raises on purpose, except for invalid values (ValueError)."""


class HarError(AffidavitError):
    """A HAR file cannot be read to its end. The message is one line and ends with what to do."""


class StoreUnavailable(AffidavitError):
    """A store cannot tell whether a call may pass. Answer 503, and do not let the call pass."""

    def describe(self) -> str:
        """Return the message for the log of the host, with the error of the database itself, in one line."""
        cause = self.__cause__
        own_error = f" ({type(cause).__name__}: {cause})" if cause else ""
        return _write_line(f"{self}{own_error}")


class ReportError(AffidavitError):
    """The hub could not be reached, or refused what was sent.

    code: a stable slug. The hub's docs list the codes of the hub. The codes of this package are `missing-api-key`,
        `publishable-key-refused`, `invalid-api-key`, `invalid-base-url`, `invalid-request`, `bad-answer`, `redirected`,
        `unreachable`, `failed` (your own transport raised another error), and `http-` with the status of an answer that
        is not the hub's, such as `http-502`.
    status: the HTTP status, None if there was no response.
    detail: what to do next.
    errors: the faults that the hub named; their pointers are relative to the argument of the call.
    request_id: the id of this request in the hub's log, None if the hub sent none.
    sent: how many items were delivered before this error.
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

    def after(self, sent_count: int, member: str) -> "ReportError":
        """Return this error with pointers into the whole list, of which `sent_count` items were delivered before.

        member: the name of the request's member that held this part of the list.
        """
        item_pointer = re.compile(rf"/{member}/(\d+)")

        def shift(match: re.Match[str]) -> str:
            return f"/{member}/{int(match[1]) + sent_count}"

        self.sent = sent_count
        self.errors = tuple(
            fault._replace(pointer=item_pointer.sub(shift, fault.pointer, count=1)) for fault in self.errors
        )
        return self

    def __str__(self) -> str:
        """Return one line."""
        return _write_line(" ".join([self.detail, *self._list_first_faults(), f"({', '.join(self._list_facts())})"]))

    def _list_first_faults(self) -> list[str]:
        lines = [f"{fault.pointer}: {fault.detail}" for fault in self.errors[:_MAX_FAULTS_SHOWN]]
        remaining = len(self.errors) - len(lines)
        return [*lines, f"… and {remaining} more."] if remaining else lines

    def _list_facts(self) -> list[str]:
        facts = [self.code]
        if self.status is not None:
            facts.append(f"HTTP {self.status}")
        if self.request_id:
            facts.append(f"request {self.request_id}")
        if self.sent:
            facts.append(f"{self.sent} delivered before")
        return facts


class HubUnreachable(ReportError):
    """The last try got no response: the hub or the network is down.

    was_sent: whether any try was sent. If so, it is unknown whether anything was stored; if not, nothing was.
    """

    def __init__(self, detail: str, *, was_sent: bool = True, **facts: Any) -> None:
        super().__init__(detail, **facts)
        self.was_sent = was_sent


def _write_line(text: str) -> str:
    """Return a text from elsewhere as one line of bounded length. A line break could forge lines of the host's log."""
    return escape_unprintable(" ".join(text[:_MAX_SHOWN].split()))


def end_sentence(text: str) -> str:
    """Return the text with a full stop added, unless it ends with `.`, `?` or `!`."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def escape_unprintable(text: str) -> str:
    """Escape control characters, to print or log a text from elsewhere, which may hold anything."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
