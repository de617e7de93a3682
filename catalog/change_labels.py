"""The kinds of change, and which side a change can break (pure), as they are stored, shown and downloaded."""

from __future__ import annotations

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
