"""The result of an attempt to send a message."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class Answer:
    """The result of an attempt.

    code: the status of the HTTP answer, or the code with which the mail server refused; None without either.
    fault: why the attempt failed, "" if it succeeded.
    note: what went wrong although it succeeded, such as a refusal of one of several recipients.
    retry_after: how long the receiver asked to wait; None if it did not.
    """

    code: int | None = None
    fault: str = ""
    retry_after: timedelta | None = None
    note: str = ""
