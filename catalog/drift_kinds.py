"""The kinds of change and whom a change can break (pure), as the database, pages and downloads name them."""

from __future__ import annotations

from collections.abc import Mapping

CONSUMER, PRODUCER, BOTH, NOBODY = "consumer", "producer", "both", ""
BREAKS_FOR = (CONSUMER, PRODUCER, BOTH)
# Each kind of change and its words.
CHANGE_KINDS: Mapping[str, str] = {
    "new": "new",
    "gone": "gone",
    "quiet": "gone quiet",
    "back": "seen again",
    "optional": "not always there any more",
    "type": "type changed",
    "nullable": "may be null now",
    "not-null": "never null any more",
    "known": "type known now",
    "map": "a map now",
    "no-map": "no map any more",
    "cut": "cut by a limit",
    "redacted": "redaction changed",
    "renamed": "parameter renamed",
}
