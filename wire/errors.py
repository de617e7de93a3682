"""The errors of the domains, for machines, pages and commands alike. wire/http/problems maps codes to HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from wire.format_numbers import count_noun

MAX_FAULTS = 100


class DomainError(Exception):
    """The base of every error that the domains raise. A subclass names its `code` (contract §1).

    detail: the words that tell people what to do; a subclass may set them.
    extra: further members of the answer, such as `environments`.
    known_in: the names of other environments that have what was not found; the page of the failure links to them.
    """

    code: str
    detail: str
    retry_after: int | None = None  # seconds after which the same request may succeed
    headers: Mapping[str, str] = {}  # further headers of the answer
    known_in: Sequence[str] = ()

    def __init__(self, detail: str | None = None, *, extra: Mapping[str, Any] | None = None) -> None:
        super().__init__(self.detail if detail is None else detail)
        self.detail = str(self)
        self.extra = extra or {}


class NotFound(DomainError):
    """Nothing is stored under this name, or the caller may not see it."""

    code = "not-found"


class InvalidRequest(DomainError):
    """The request cannot be carried out as it was sent."""

    code = "invalid-request"


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a body: where (RFC 6901), a stable code, and what to do."""

    pointer: str
    code: str
    detail: str


class InvalidBody(InvalidRequest):
    """A body of the wrong form, with the faults that were found in it. The first 100 are listed under `errors`."""

    def __init__(self, *faults: Fault) -> None:
        fault_count = f"{count_noun(len(faults), 'fault')}, listed"
        if len(faults) > MAX_FAULTS:  # checking stops one beyond the limit, so nobody knows how many there are
            fault_count = f"more than {MAX_FAULTS} faults, the first {MAX_FAULTS} of which are listed"
        detail = f"The body has {fault_count} under errors; nothing was stored."
        super().__init__(detail, extra=_list_faults(faults))


class Unavailable(DomainError):
    """The database cannot carry out the request at the moment."""

    code = "unavailable"
    detail = (
        "The database cannot be reached, is full, or aborted this request because of another. "
        "Nothing of this request was stored; send it again later."
    )
    retry_after = 5


class Unconfirmed(Unavailable):
    """The connection broke during a commit: only the database knows whether the transaction was committed."""

    detail = (
        "The connection to the database broke just as this request was being stored, so it may have been stored: "
        "repeat it under the same Idempotency-Key or reportId, and it counts once."
    )


def _list_faults(faults: Sequence[Fault]) -> Mapping[str, Any]:
    errors = {"errors": [asdict(fault) for fault in faults[:MAX_FAULTS]]}
    return {**errors, "errorsTruncated": True} if len(faults) > MAX_FAULTS else errors
