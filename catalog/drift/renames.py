"""Under which new name a property that went quiet seems to come since (pure): each new name is that of one at most."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any

from affidavit import Evidence, describe


def successors(parent: Evidence, missed: Mapping[str, int], ruled_out: Collection[str]) -> dict[str, str]:
    """New name by old one, for the properties of `parent` that have a successor.

    missed: by name, how often each that went quiet was missed; ruled_out: the names that are missed themselves, and the
    new ones that were told of others before.
    Where several come to one new name, it is that of the most alike; of none where two are equally so.
    """
    claims = {name: found for name, times in missed.items() if (found := successor(parent, name, times, ruled_out))}
    rivals = {found: [name for name, other in claims.items() if other == found] for found in claims.values()}
    return {name: found for found, names in rivals.items() for name in most_alike(found, names)}


def successor(parent: Evidence, name: str, missed: int, ruled_out: Collection[str]) -> str:
    """The only property that could be the new name of a quiet one, or ""."""
    found = [other for other in could_succeed(parent, name, missed) if other not in ruled_out]
    return found[0] if len(found) == 1 else ""


def could_succeed(parent: Evidence, name: str, missed: int) -> Iterator[str]:
    """Those of the same shape that were never seen before the other's last day, nor more often than it was missed."""
    quiet = parent.properties[name]
    for other, place in parent.properties.items():
        if 0 < place.seen <= missed and began_after(place, quiet) and shape_of(place) == shape_of(quiet):
            yield other


def shape_of(place: Evidence) -> dict[str, Any]:
    """Without the mark that only its own name gives it: that changes with the name."""
    shape = describe(place, counts=False)
    shape.pop("redacted", None)
    return shape


def began_after(place: Evidence, quiet: Evidence) -> bool:
    return place.first is None or quiet.last is None or place.first >= quiet.last


def most_alike(found: str, names: Collection[str]) -> list[str]:
    """The name that is most like the new one; none where two are."""
    alike = {name: SequenceMatcher(None, name.lower(), found.lower()).ratio() for name in names}
    best = [name for name in names if alike[name] == max(alike.values())]
    return best if len(best) == 1 else []
