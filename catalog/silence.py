"""Whether a property has gone quiet, by its own usual rate (pure).

How long nothing was heard of it is counted in the objects that it could have been in, so that a busy hour and a
quiet night are the same; and one that has always come in bursts has to be missing for longer than ever before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from affidavit import Evidence
from catalog.places import ITEMS, VALUES, below

EXPECTED = 20  # times that it should have been seen by now, at its usual rate
LONGER = 3  # times the longest silence so far

Held = Mapping[str, list[int]]
"""`[missed, longest, told]` by pointer: objects without it in a row, the most before that, and whether it was told."""


@dataclass(frozen=True)
class Heard:
    """A property that went quiet (`missed` objects in a row) or, where that is 0, was seen again."""

    pointer: str
    evidence: Evidence
    missed: int


def listen(held: Held, total: Evidence, added: Evidence) -> tuple[dict[str, list[int]], list[Heard]]:
    """What is held after `added`, which is in `total` already, and what is to be told of it: each silence once."""
    now = dict(held)
    told = []
    for pointer, place, missed, parents in absences(total, added):
        run, longest, was_told = now.pop(pointer, [0, 0, 0])
        if missed:
            run += missed
            is_quiet = quiet(run, longest, place.seen, parents)
            if is_quiet and not was_told:
                told.append(Heard(pointer, place, run))
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


def absences(total: Evidence, added: Evidence, pointer: str = "") -> Iterator[tuple[str, Evidence, int, int]]:
    """Each property that `added` could tell of: its place, how many objects missed it (0: it was there), of all."""
    could, parents = added.counts.get("object", 0), total.counts.get("object", 0)
    for name, place in total.properties.items():
        here, inner = below(pointer, name), added.properties.get(name)
        if inner is not None and inner.seen:
            yield here, place, 0, parents
            yield from absences(place, inner, here)
        elif could:
            yield here, place, could, parents
    for name, place, inner in ((ITEMS, total.items, added.items), (VALUES, total.values, added.values)):
        if place is not None and inner is not None:
            yield from absences(place, inner, f"{pointer}/{name}")
