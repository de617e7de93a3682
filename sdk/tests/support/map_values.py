"""Objects used as maps: many rare names with similar values."""

from typing import Any

from affidavit import Evidence, infer

WORDS = [f"{a}{b}{c}" for a in "bcdfg" for b in "aeiou" for c in "lmnrst"]
PRICE = {"amount": 1, "currency": "EUR"}


def infer_all(*values: Any) -> Evidence:
    total = Evidence()
    for value in values:
        total.add(infer(value))
    return total


def bodies(value: Any, *, names: int = 40, size: int = 2) -> list[dict[str, Any]]:
    """Return objects that have no name in common. Each has `size` names, and all together have `names` names.

    The value of each name is `value`, or `value(name)` if `value` is a function.
    """
    make_value = value if callable(value) else lambda name: value
    return [{name: make_value(name) for name in WORDS[start : start + size]} for start in range(0, names, size)]
