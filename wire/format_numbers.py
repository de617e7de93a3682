"""Write numbers for people: counts with their noun, and shares in percent (pure)."""

from __future__ import annotations

from decimal import Decimal

NOTHING = "–"


def count_noun(count: int, noun: str) -> str:
    """Return `1 row` or `2,000 rows`. The plural of the noun ends in s."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def format_percent(part: float | None, whole: float | None) -> str:
    """Write `format_percent(1, 40)` as `2.5 %`, with one decimal. A share of nothing is a dash.

    `0 %` means none at all and `100 %` means all, so these have no decimal. Shares that are nearly none or nearly all
    are written `< 0.1 %` and `> 99.9 %`.
    """
    if part is None or not whole:
        return NOTHING
    rate = 100 * part / whole
    if 0 < rate < 0.1:
        return "< 0.1 %"
    if rate == 0 or part == whole:
        return f"{rate:.0f} %"
    if 99.9 < rate < 100:
        return "> 99.9 %"
    return f"{rate:,.1f} %"


def format_decimal(number: float) -> str:
    """Write 3.0 as `3` and 0.00001 as `0.00001`: with all its digits, and without an exponent."""
    digits = f"{Decimal(repr(number)):f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits
