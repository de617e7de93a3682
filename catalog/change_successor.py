"""The text by which a stored change says what perhaps replaced a property that is no longer seen (pure)."""

from __future__ import annotations

import re

from catalog.change_kinds import NO_LONGER_SEEN
from catalog.shape_pointers import join_property, parent_pointer

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
    name = read_successor(after) if kind == NO_LONGER_SEEN else ""
    return join_property(parent_pointer(pointer), name) if name else ""
