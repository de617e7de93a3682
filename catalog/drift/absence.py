"""What a property's absence tells (pure): that it went quiet, was seen again, or is not always there any more.

How long nothing was heard of it is counted in the objects that it could have been in, so that a busy hour and a
quiet night are the same; and one that has always come in bursts has to be missing for longer than ever before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from affidavit import Evidence
from catalog.drift.renames import successors
from catalog.evidence.pointers import ITEMS, VALUES, join_property

EXPECTED = 20  # times that it should have been seen by now, at its usual rate
LONGER = 3  # times the longest silence so far
ENOUGH = 20  # observations without exception that are taken for a rule

QUIET, BACK, OPTIONAL = "quiet", "back", "optional"


class Silence(NamedTuple):
    """What is held of a property that was missed, or that came later than its object; of others nothing is.

    missed: objects without it in a row; longest: the most before that; told: whether it was, with which successor.
    seen, of: how often it was there by the end of the fold in which it first came, of how many objects.
    """

    missed: int = 0
    longest: int = 0
    told: int = 0
    successor: str = ""
    seen: int = 0
    of: int = 0


Held = Mapping[str, Sequence[Any]]
"""The members of a `Silence` by pointer, as JSON has them."""


@dataclass(frozen=True)
class Heard:
    """What is to be told of a property. kind: QUIET, BACK or OPTIONAL.

    seen, of: how often it was there, of the objects that came since it was first missed. always: of one that was
    always there, how often that was. successor: the name under which a quiet one seems to come since, if any.
    """

    kind: str
    pointer: str
    evidence: Evidence
    seen: int
    of: int
    always: int = 0
    successor: str = ""


def listen(held: Held, total: Evidence, added: Evidence) -> tuple[dict[str, Silence], list[Heard]]:
    """What is held after `added`, which is in `total` already, and what is to be told of it: each silence once."""
    now = {pointer: Silence(*kept) for pointer, kept in held.items()}
    told: list[tuple[Chance, Heard]] = []
    for chance in chances(total, added):
        becomes, heard = after(now.pop(chance.pointer, Silence()), chance)
        if becomes != Silence():
            now[chance.pointer] = becomes
        if heard:
            told.append((chance, heard))
    named = new_names(now, [chance for chance, heard in told if heard.kind == QUIET])
    for pointer, name in named.items():
        now[pointer] = now[pointer]._replace(successor=name)
    return now, [replace(heard, successor=named.get(heard.pointer, "")) for _, heard in told]


class Chance(NamedTuple):
    """A property that could have been there: in how many of the objects that came, and in how many it was."""

    pointer: str
    parent: Evidence
    name: str
    could: int
    seen: int

    @property
    def place(self) -> Evidence:
        return self.parent.properties[self.name]

    @property
    def objects(self) -> int:
        """How many objects there were ever, those that came among them."""
        return self.parent.counts.get("object", 0)

    @property
    def before(self) -> tuple[int, int]:
        """How often it was there until then, of how many objects."""
        return self.place.seen - self.seen, self.objects - self.could


def after(was: Silence, chance: Chance) -> tuple[Silence, Heard | None]:
    return noticed(was, chance) if chance.seen else missed(was, chance)


def missed(was: Silence, chance: Chance) -> tuple[Silence, Heard | None]:
    run = was.missed + chance.could
    is_quiet = quiet(run, was.longest, chance.place.seen, chance.objects)
    becomes = was._replace(missed=run, told=int(was.told or is_quiet))
    if is_quiet and not was.told:
        return becomes, Heard(QUIET, chance.pointer, chance.place, 0, run)
    return becomes, None


def noticed(was: Silence, chance: Chance) -> tuple[Silence, Heard | None]:
    """It was there, perhaps not in all: what was always there is told once that it is not any more."""
    becomes = was._replace(missed=0, longest=max(was.missed, was.longest), told=0, successor="")
    seen, objects = chance.before
    if objects and not seen:
        becomes = becomes._replace(seen=chance.place.seen, of=chance.objects)
    since = was.missed + chance.could
    if was.told:
        return becomes, Heard(BACK, chance.pointer, chance.place, chance.seen, chance.could)
    if since > chance.seen and (always := always_there(was, chance)) >= ENOUGH:
        return becomes, Heard(OPTIONAL, chance.pointer, chance.place, chance.seen, since, always)
    return becomes, None


def always_there(was: Silence, chance: Chance) -> int:
    """In how many objects it was, all since it first came but for those that it is missing in; 0 where not in all."""
    seen, objects = chance.before
    times = seen - was.seen
    return times if objects - was.of - times == was.missed else 0


def quiet(missed: int, longest: int, seen: int, parents: int) -> bool:
    """`parents`: objects in all, those that missed it among them."""
    before = max(parents - missed, 1)
    return missed * seen >= EXPECTED * before and missed > LONGER * longest


def new_names(now: Mapping[str, Silence], gone: Sequence[Chance]) -> dict[str, str]:
    """By the pointers of what went quiet just now, the names under which it seems to come since."""
    by_object: dict[str, list[Chance]] = {}
    for chance in gone:
        by_object.setdefault(around(chance.pointer), []).append(chance)
    found: dict[str, str] = {}
    for outer, chances_there in by_object.items():
        parent = chances_there[0].parent
        held = {name: now.get(join_property(outer, name), Silence()) for name in parent.properties}
        ruled_out = {name for name, silence in held.items() if silence.missed}
        ruled_out |= {silence.successor for silence in held.values()}
        named = successors(parent, {chance.name: held[chance.name].missed for chance in chances_there}, ruled_out)
        found |= {join_property(outer, name): successor for name, successor in named.items()}
    return found


def around(pointer: str) -> str:
    return pointer.rpartition("/")[0]


def chances(total: Evidence, added: Evidence, pointer: str = "") -> Iterator[Chance]:
    """Each property that `added` could tell of, the outer ones first; none within one that was missed."""
    could = added.counts.get("object", 0)
    for name, place in total.properties.items():
        here, inner = join_property(pointer, name), added.properties.get(name)
        if inner is not None and inner.seen:
            yield Chance(here, total, name, could, inner.seen)
            yield from chances(place, inner, here)
        elif could:
            yield Chance(here, total, name, could, 0)
    for name, place, inner in ((ITEMS, total.items, added.items), (VALUES, total.values, added.values)):
        if place is not None and inner is not None:
            yield from chances(place, inner, f"{pointer}/{name}")
