"""Write a number with its noun (pure)."""

from __future__ import annotations


def count_noun(count: int, noun: str) -> str:
    """Return `1 row` or `2,000 rows`. The plural of the noun ends in s."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
