"""Write numbers; built into every template.

Filters: `count`, `percent`, `change`, `direction`, `bytes`. Tag: `rate_change`.
"""

from __future__ import annotations

from django import template

from wire.format_numbers import NOTHING, format_percent

register = template.Library()

SMALLEST_POINTS = 0.05  # smaller differences would be rounded to 0.0
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


@register.filter
def count(value: int | float | None) -> str:
    """Write 12204 as `12,204`, and None as a dash."""
    return NOTHING if value is None else f"{value:,}"


@register.filter
def percent(part: float | None, whole: float | None) -> str:
    """Write `part|percent:whole` as `2.5 %`."""
    return format_percent(part, whole)


@register.filter(name="change")
def format_change(now: int, before: int) -> str:
    """Write `now|change:before` as `+11.2 %`, from a doubling on as `6.5×`. A change from 0 is a dash.

    A change that would be rounded to 0.0 is `±0 %`; only a fall to 0 is `−100 %`.
    """
    if not before:
        return NOTHING
    if now >= 2 * before:
        return f"{now / before:,.1f}×".replace(".0×", "×")
    if now in (0, before):
        return "0 %" if now else "−100 %"
    rate = 100 * abs(now - before) / before
    if rate < SMALLEST_POINTS:
        return "±0 %"
    return f"{'+' if now > before else '−'}{min(rate, 99.9):.1f} %"


@register.filter(name="direction")
def name_direction(now: int, before: int) -> str:
    """Return the CSS class that colours a change: `up` (good) if the number grew, `down` (bad) if it fell.

    Return "" if it stayed the same, or was 0 before.
    """
    if not before or now == before:
        return ""
    return "up" if now > before else "down"


@register.simple_tag
def rate_change(part: int, whole: int, previous_part: int, previous_whole: int) -> str:
    """Write by how many percentage points a rate differs from the previous one; "" if one of them does not exist.

    Both rates are rounded first, so that the difference agrees with the rates on the page. If the exact rates differ
    by less than SMALLEST_POINTS, the difference is `±0`.
    """
    if not whole or not previous_whole:
        return ""
    if abs(100 * part / whole - 100 * previous_part / previous_whole) < SMALLEST_POINTS:
        return _format_points(0)
    return _format_points(round(100 * part / whole, 1) - round(100 * previous_part / previous_whole, 1))


def _format_points(difference: float) -> str:
    """Write a difference of two rates in percentage points as `+1.2`. A difference below 0.05 is `±0`."""
    return f"{difference:+.1f}".replace("-", "−") if abs(difference) >= SMALLEST_POINTS else "±0"


@register.filter(name="bytes")
def format_bytes(value: float | None) -> str:
    """Write 4194304 as `4 MiB`."""
    if value is None:
        return NOTHING
    unit = min(max(int(value).bit_length() - 1, 0) // 10, len(UNITS) - 1)
    number = value / 1024**unit
    return f"{number:.1f}".removesuffix(".0") + f" {UNITS[unit]}"
