"""The kinds of change and the sides that a change can break, as they are stored, shown and downloaded (pure)."""

from __future__ import annotations

from collections.abc import Mapping

CONSUMER, PRODUCER, BOTH, NOBODY = "consumer", "producer", "both", ""
BREAKS_FOR = (CONSUMER, PRODUCER, BOTH)
NO_LONGER_SEEN, SEEN_AGAIN, NOT_ALWAYS = "quiet", "back", "optional"
PRESENCE_KINDS = (NO_LONGER_SEEN, SEEN_AGAIN, NOT_ALWAYS)
KINDS_BY_TYPE = ("type", "known", "nullable", "not-null")  # their values are counted by type, not by presence
# Each kind of change, as it is stored, with the words that pages show for it.
CHANGE_KINDS: Mapping[str, str] = {
    "new": "new",
    "gone": "removed",
    NO_LONGER_SEEN: "no longer seen",
    SEEN_AGAIN: "seen again",
    NOT_ALWAYS: "now optional",
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
