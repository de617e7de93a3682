"""Explain the payload of an intent to a person, member by member (pure; contract §3)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, datetime

from affidavit import Json, read_unproven_payload
from wire.time.timestamps import moment_from_unix

MAX_VALUE_LENGTH = 300  # characters shown

MEANINGS: Mapping[str, str] = {
    "v": "version of the intent",
    "toolCallId": "the id of the tool call; a retry has the same, so that the call takes effect only once",
    "tenantId": "the workspace whose secret signs",
    "sub": "the end user to authorize against",
    "userId": "the end user to authorize against, in version 1",
    "aud": "the backend that it is for",
    "operation": "the only operation that it permits",
    "method": "the only method that it permits, in version 1",
    "path": "the only path that it permits, in version 1",
    "argsHash": "SHA-256 of the arguments in canonical JSON",
    "nonce": "makes it valid once",
    "issuedAt": "when it was signed",
    "expiresAt": "when it ends",
    "requiresStepUp": "whether the backend has to ask for a stronger verification first",
}
MOMENTS = frozenset({"issuedAt", "expiresAt"})


@dataclass(frozen=True)
class PayloadField:
    """One member of a payload.

    value: the value as JSON, cut if it is long.
    moment: the time, if the member holds a time that can be shown.
    """

    name: str
    value: str
    meaning: str
    moment: datetime | None = None


def list_payload_fields(header: str) -> list[PayloadField]:
    """Return the members in the order of the header, even if its signature is not valid; [] if it is unreadable."""
    return [_describe_field(name, value) for name, value in (read_unproven_payload(header) or {}).items()]


def _describe_field(name: str, value: Json) -> PayloadField:
    text = json.dumps(value, ensure_ascii=False)
    if len(text) > MAX_VALUE_LENGTH:
        text = f"{text[:MAX_VALUE_LENGTH]}…"
    meaning = MEANINGS.get(name, "not a member of the specification")
    return PayloadField(name, text, meaning, _read_moment(value) if name in MOMENTS else None)


def _read_moment(value: Json) -> datetime | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        moment = moment_from_unix(value)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if MINYEAR < moment.year < MAXYEAR else None  # not every time zone could show it
