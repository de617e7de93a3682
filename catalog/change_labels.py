"""The kinds of change and the sides that a change can break, as they are stored, shown and downloaded (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from catalog.shape_pointers import join_property, parent_pointer

CONSUMER, PRODUCER, BOTH, NOBODY = "consumer", "producer", "both", ""
BREAKS_FOR = (CONSUMER, PRODUCER, BOTH)
# Each kind of change, as it is stored, with the words that pages show for it.
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
    """Return the text of `Drift.after` for a property that is no longer seen and was perhaps renamed to `name`."""
    return f"perhaps {name} now"


def read_successor(after: str) -> str:
    """Return the name in an `after` text that `describe_successor` wrote; "" for any other text."""
    match = SUCCESSOR.fullmatch(after)
    return match[1] if match else ""


def locate_successor(pointer: str, kind: str, after: str) -> str:
    """Return the pointer of the property that perhaps replaced the one that is no longer seen; "" for none."""
    name = read_successor(after) if kind == "quiet" else ""
    return join_property(parent_pointer(pointer), name) if name else ""


def list_new_types(before: str, after: str) -> list[str]:
    """Return the types that a change added: `string` if `integer` became `integer or string`.

    If `after` has types in parentheses, such as those of an array's items, it is returned whole.
    """
    if "(" in after:
        return [after]
    types_before = before.split(" or ")
    return [kind for kind in after.split(" or ") if kind not in types_before]


def list_counted_types(before: str, after: str) -> list[str]:
    """Return the new types by the names that evidence uses: `object` for a map, `array` for an array of anything."""
    heads = [name.split()[0] if name else "" for name in list_new_types(before, after)]
    return ["object" if head in ("map", "empty") else head for head in heads]


def count_new_type(count: int, before: str, after: str) -> str:
    """Return `2 strings`, or `2 values of new types` if the new type is not a single name."""
    names = list_new_types(before, after)
    plural = "" if count == 1 else "s"
    if len(names) != 1 or "(" in names[0] or not names[0]:
        return f"{count:,} value{plural} of new types"
    words = names[0].split()
    name = "object" if words[0] in ("map", "empty") else words[0]
    return f"{count:,} {name}{plural}"
