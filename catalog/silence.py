"""Whether a property has gone quiet, by its own usual rate (pure).

How long nothing was heard of it is counted in the objects that it could have been in, so that a busy hour and a
quiet night are the same; and one that has always come in bursts has to be missing for longer than ever before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from affidavit import Evidence, describe
from catalog.places import ITEMS, VALUES, below

EXPECTED = 20  # times that it should have been seen by now, at its usual rate
LONGER = 3  # times the longest silence so far

Held = Mapping[str, list[int]]
"""`[missed, longest, told]` by pointer: objects without it in a row, the most before that, and whether it was told."""


@dataclass(frozen=True)
class Heard:
    """A property that went quiet (`missed` objects in a row) or, where that is 0, was seen again.

    successor: the name under which it seems to come since, if any.
    """

    pointer: str
    evidence: Evidence
    missed: int
    successor: str = ""


def listen(held: Held, total: Evidence, added: Evidence) -> tuple[dict[str, list[int]], list[Heard]]:
    """What is held after `added`, which is in `total` already, and what is to be told of it: each silence once."""
    now = dict(held)
    told = []
    for absence in absences(total, added):
        pointer, place, missed = absence.pointer, absence.place, absence.missed
        run, longest, was_told = now.pop(pointer, [0, 0, 0])
        if missed:
            run += missed
            is_quiet = quiet(run, longest, place.seen, absence.parents)
            if is_quiet and not was_told:
                told.append(Heard(pointer, place, run, successor(absence.parent, absence.name, run)))
            now[pointer] = [run, longest, int(was_told or is_quiet)]
        elif run or longest:
            if was_told:
                told.append(Heard(pointer, place, 0))
            now[pointer] = [0, max(run, longest), 0]
    return now, told


def quiet(missed: int, longest: int, seen: int, parents: int) -> bool:
    """`parents`: objects in all, those that missed it among them."""
    before = max(parents - missed, 1)
    return missed * seen >= EXPECTED * before and missed > LONGER * longest


def successor(parent: Evidence, name: str, missed: int) -> str:
    """The property that seems to be the new name of a quiet one, or "".

    It has the same shape, was never seen before the other's last day, and never more often than the other was
    missed, and no further property is like that.
    """
    quiet = parent.properties[name]
    shape = describe(quiet, counts=False)
    found = [
        other
        for other, place in parent.properties.items()
        if 0 < place.seen <= missed and began_after(place, quiet) and describe(place, counts=False) == shape
    ]
    return found[0] if len(found) == 1 else ""


def began_after(place: Evidence, quiet: Evidence) -> bool:
    return place.first is None or quiet.last is None or place.first >= quiet.last


class Absence(NamedTuple):
    """How many of the objects that came missed a property (0: it was there), of all that there ever were."""

    pointer: str
    parent: Evidence
    name: str
    missed: int

    @property
    def place(self) -> Evidence:
        return self.parent.properties[self.name]

    @property
    def parents(self) -> int:
        return self.parent.counts.get("object", 0)


def absences(total: Evidence, added: Evidence, pointer: str = "") -> Iterator[Absence]:
    """Each property that `added` could tell of, the outer ones first; none within one that was missed."""
    could = added.counts.get("object", 0)
    for name, place in total.properties.items():
        here, inner = below(pointer, name), added.properties.get(name)
        if inner is not None and inner.seen:
            yield Absence(here, total, name, 0)
            yield from absences(place, inner, here)
        elif could:
            yield Absence(here, total, name, could)
    for name, place, inner in ((ITEMS, total.items, added.items), (VALUES, total.values, added.values)):
        if place is not None and inner is not None:
            yield from absences(place, inner, f"{pointer}/{name}")
