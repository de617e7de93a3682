"""Pointers to the nodes of a shape, such as `/lines/[]/sku` (pure).

`[]` stands for each item of an array, `{}` for each value of a map. Names are escaped as in RFC 6901, `~0` for `~` and
`~1` for `/`. A property whose whole name is `[]` or `{}` is written `~2]` or `~3}`, so that it is never confused with
the items of an array or the values of a map.
"""

from __future__ import annotations

ITEMS, VALUES = "[]", "{}"
_STEP_BY_NAME = {ITEMS: "~2]", VALUES: "~3}"}  # for properties whose name is ITEMS or VALUES
_NAME_BY_STEP = {step: name for name, step in _STEP_BY_NAME.items()}


def join_property(pointer: str, name: str) -> str:
    """Return the pointer of a property of the object at `pointer`."""
    return f"{pointer}/{property_step(name)}"


def property_step(name: str) -> str:
    """Return the step to a property: the last segment of its pointer. It is never ITEMS or VALUES."""
    return _STEP_BY_NAME.get(name) or name.replace("~", "~0").replace("/", "~1")


def property_name(step: str) -> str:
    """Return the name of the property that a step leads to."""
    return _NAME_BY_STEP.get(step) or step.replace("~1", "/").replace("~0", "~")


def split_pointer(pointer: str) -> list[str]:
    """Return the steps of a pointer, still escaped; the root has none."""
    return pointer.split("/")[1:]


def parent_pointer(pointer: str) -> str:
    return pointer.rpartition("/")[0]


def is_within(pointer: str, outer: str) -> bool:
    """Return whether a node is `outer` itself or beneath it."""
    return f"{pointer}/".startswith(f"{outer}/")
