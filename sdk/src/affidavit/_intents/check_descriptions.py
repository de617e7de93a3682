"""What people read of each check of a verification: its title and result (inspector page and `affidavit verify`)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Literal

from affidavit._json import Json

from .envelope import Unreadable, open_envelope
from .intent import Intent
from .operation import name_operation
from .reasons import REASONS
from .verification_attempt import Attempt

State = Literal["passed", "failed", "not-bound", "not-reached"]
Sides = tuple[str | None, str | None]

CHECKS: Mapping[str, str] = MappingProxyType(
    {
        "presence": "The header is there",
        "decoding": "The header decodes into a payload and a signature",
        "signature": "The signature is that of the payload under the workspace's secret",
        "payload": "The payload has every field of a version that is accepted",
        "time": "The intent was valid when received",
        "workspace": "The intent names this workspace",
        "audience": "The intent is meant for this API",
        "operation": "The request is the operation that was signed",
        "arguments": "The request carries the arguments that were signed",
        "step-up": "Step-up completed",
        "nonce": "The intent has not been used before",
    }
)
"""The checks in the order in which they run; the first one that fails gives the reason."""

_NOT_BOUND_BY_V1 = frozenset({"audience", "arguments", "step-up", "nonce"})


@dataclass(frozen=True, slots=True)
class Check:
    """One step of a verification.

    name, title: the name and the title in `CHECKS`.
    state: `not-bound` if version 1 has nothing to compare, `not-reached` if an earlier failure left nothing to check.
    reason: the reason of a failure.
    detail: the cause of the failure in plain words.
    signed, actual: the value in the intent, and the value that the request or this backend has. None if the check
        compares no values that can be shown. Of arguments, only the hashes are shown.
    """

    name: str
    title: str
    state: State
    reason: str | None = None
    detail: str = ""
    signed: str | None = None
    actual: str | None = None


def skip_check(name: str) -> Check:
    """Return a check that could not be run, because an earlier check left nothing to check."""
    return Check(name, CHECKS[name], "not-reached")


def describe_check(name: str, reason: str | None, attempt: Attempt, workspace: str | None, audience: str) -> Check:
    """Return the result of the check `name`, which has just run.

    workspace, audience: those of the verifier.
    """
    intent = attempt.known_intent
    if reason is None and intent is not None and intent.version == 1 and name in _NOT_BOUND_BY_V1:
        return Check(name, CHECKS[name], "not-bound", detail="Version 1 binds nothing here.")
    signed_text, actual_text = _compare_sides(name, attempt, intent, workspace, audience) if intent else (None, None)
    if reason is None:
        return Check(name, CHECKS[name], "passed", signed=signed_text, actual=actual_text)
    detail = attempt.detail or REASONS[reason].meaning
    return Check(name, CHECKS[name], "failed", reason, detail, signed_text, actual_text)


def _compare_sides(name: str, attempt: Attempt, intent: Intent, workspace: str | None, audience: str) -> Sides:
    """Return the signed and the actual value of check `name`; (None, None) if there is nothing to show."""
    sides: dict[str, Callable[[], Sides]] = {
        "payload": lambda: (f"version {intent.version}", None),
        "time": lambda: (
            f"{format_moment(intent.issued_at)} to {format_moment(intent.expires_at)}",
            format_moment(attempt.now),
        ),
        "workspace": lambda: (intent.workspace, workspace or intent.workspace),
        "audience": lambda: (intent.audience, audience),
        "operation": lambda: (intent.operation, name_operation(attempt)),
        "arguments": lambda: (intent.args_hash, attempt.args_hash),
        "step-up": lambda: ("required" if intent.requires_step_up else "not required", None),
    }
    return sides[name]() if name in sides else (None, None)


def read_unproven_payload(header: str) -> dict[str, Json] | None:
    """Return the payload of a header, None if it cannot be read.

    Its signature is not verified: show the payload to people, and do not act on it.
    """
    try:
        return open_envelope(header).payload
    except Unreadable:
        return None


def format_moment(seconds: float) -> str:
    """Return a Unix time for people, in UTC; the plain number if it is out of the calendar's range."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return f"{seconds:g}"
