"""The types that a change added, and how many values had them, in words (pure)."""

from __future__ import annotations


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
