"""What an observation adds to what is known of a shape: places, and kinds of values in them (contract 4)."""

from __future__ import annotations

from affidavit._shapes.evidence import Evidence

from .observations import PARTS, Sum

_NOTHING = Evidence()


def news(known: Sum, part: Sum) -> int:
    """How many facts `part` has that `known` does not have; counts are none."""
    return sum(_news(getattr(known, name), getattr(part, name)) for name in PARTS)


def _news(known: Evidence, part: Evidence) -> int:
    found = len(part.counts.keys() - known.counts.keys())
    for name, child in part.properties.items():
        place = known.values if known.collapsed else known.properties.get(name)
        found += _news(place or _NOTHING, child)
    if part.items is not None:
        found += _news(known.items or _NOTHING, part.items)
    if part.values is not None:
        found += _news(known.values or _NOTHING, part.values)
    return found
