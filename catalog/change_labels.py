"""The kinds of change, and which side a change can break (pure), as they are stored, shown and downloaded."""

from __future__ import annotations

import re
from collections.abc import Mapping

CONSUMER, PRODUCER, BOTH, NOBODY = "consumer", "producer", "both", ""
BREAKS_FOR = (CONSUMER, PRODUCER, BOTH)
# Each kind of change and its words.
CHANGE_KINDS: Mapping[str, str] = {
    "new": "new",
    "gone": "removed",
    "quiet": "no longer seen",
    "back": "seen again",
    "optional": "now optional",
    "type": "type changed",
    "nullable": "now nullable",
    "not-null": "no longer null",
    "known": "type now known",
    "map": "now a map",
    "no-map": "no longer a map",
    "cut": "cut by a limit",
    "redacted": "redaction changed",
    "renamed": "parameter renamed",
    "media-type": "media type added",
}
SUCCESSOR = re.compile(r"perhaps (.+) now", re.DOTALL)


def describe_successor(name: str) -> str:
    """Return the `after` of a change "no longer seen" of a property that this name seems to replace."""
    return f"perhaps {name} now"


def read_successor(after: str) -> str:
    """Return the name that `describe_successor` wrote into an `after`; "" if there is none."""
    match = SUCCESSOR.fullmatch(after)
    return match[1] if match else ""
