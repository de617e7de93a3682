"""What changed between two outlines of an operation, and whom it breaks (pure).

The rules are oasdiff's, turned on what was observed, and where they leave room a false alarm is preferred to a
missed break. An answer that may be more than before breaks consumers; a request that may be more breaks the
producer, one that may be less breaks consumers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from catalog.drift_kinds import BOTH, CHANGE_KINDS, CONSUMER, NOBODY, PRODUCER
from catalog.evidence.outlines import Descriptor, Outline
from catalog.evidence.pointers import ITEMS, VALUES, describe_type, join_property

PATH = "path"
LITTLE = frozenset({"nothing", "null", "cut"})  # whatever comes after these is no change of the operation
UNKNOWN_WORDS = {"nothing": "nothing yet", "cut": "cut by a limit", "divergent": "different types"}
# Of a type that became wider, narrower or another one: whom it breaks.
IN_ANSWERS = {"wider": CONSUMER, "narrower": NOBODY, "other": CONSUMER}
IN_REQUESTS = {"wider": PRODUCER, "narrower": CONSUMER, "other": BOTH}

IsWhole = Callable[[str, str], bool]
"""From part and pointer to whether the new is there in all that was seen since: it may be required."""
IsRule = Callable[[str, str], bool]
"""From part and pointer of a place where nothing but null was seen to whether that was often enough to rely on."""


@dataclass(frozen=True)
class Change:
    """part: `path`, `query`, `request` or a status; pointer: the place in it; before, after: types in words.

    breaks: `consumer`, `producer`, `both`, or "" for a change that breaks nobody.
    """

    part: str
    pointer: str
    kind: str
    before: str = ""
    after: str = ""
    breaks: str = NOBODY

    @property
    def words(self) -> str:
        return CHANGE_KINDS[self.kind]

    @property
    def is_of_nothing(self) -> bool:
        """Nothing at all was known of the place before."""
        return self.kind == "known" and self.before == UNKNOWN_WORDS["nothing"]


def compare_outlines(
    before: Outline,
    after: Outline,
    *,
    is_whole: IsWhole = lambda part, pointer: True,
    is_rule: IsRule = lambda part, pointer: False,
) -> list[Change]:
    """All that differs, by part and place; [] exactly when the two are the same shapes under the same names."""
    found = [*of_parameters(before["parameters"], after["parameters"])]
    for part in ("query", "request"):
        found += at(part, "", before[part], after[part])
    for status in sorted(before["responses"].keys() | after["responses"].keys()):
        found += at(status, "", before["responses"].get(status), after["responses"].get(status))
    found = [end_of_null(change) if is_always_null(change, is_rule) else change for change in found]
    return [replace(change, breaks=NOBODY) if is_optional(change, is_whole) else change for change in found]


def is_optional(change: Change, is_whole: IsWhole) -> bool:
    """Something new in a request breaks consumers only where it may be required."""
    return change.kind == "new" and bool(change.breaks) and not is_whole(change.part, change.pointer)


def is_always_null(change: Change, is_rule: IsRule) -> bool:
    return (change.kind, change.before) == ("known", "null") and is_rule(change.part, change.pointer)


def end_of_null(change: Change) -> Change:
    """A type in place of what was always null: null by itself was one, and was relied on."""
    return replace(change, kind="type", breaks=whom(change.part, "wider"))


def not_always(part: str, pointer: str, before: str, after: str) -> Change:
    """What was always there and is not any more: it breaks who reads it, and nobody who sends it."""
    return Change(part, pointer, "optional", before, after, CONSUMER if is_answer(part) else NOBODY)


def of_parameters(before: Mapping[str, Descriptor], after: Mapping[str, Descriptor]) -> Iterator[Change]:
    """By position: two outlines of one template have as many."""
    for (old, was), (new, told) in zip(before.items(), after.items(), strict=True):
        if old != new:
            yield Change(PATH, join_property("", new), "renamed", old, new)
        yield from of_shape(PATH, join_property("", new), was, told)


def at(part: str, pointer: str, before: Descriptor | None, after: Descriptor | None) -> Iterator[Change]:
    """Of what is new or gone only the outermost place is told."""
    if before is not None and after is not None:
        yield from of_shape(part, pointer, before, after)
    elif after is not None:
        yield Change(part, pointer, "new", "", in_words(after), NOBODY if is_answer(part) else CONSUMER)
    elif before is not None:
        yield gone(part, pointer, before)


def gone(part: str, pointer: str, before: Descriptor, kind: str = "gone") -> Change:
    """What nobody sends any more. An error status that no longer comes breaks nobody."""
    is_error = is_answer(part) and not pointer and part[0] not in "23"
    breaks = NOBODY if is_error else CONSUMER if is_answer(part) else BOTH
    return Change(part, pointer, kind, in_words(before), "", breaks)


def of_shape(part: str, pointer: str, before: Descriptor, after: Descriptor) -> Iterator[Change]:
    yield from of_type(part, pointer, before, after)
    if before.get("redacted") != after.get("redacted"):
        marks = ["redacted" if one.get("redacted") else "" for one in (before, after)]
        yield Change(part, pointer, "redacted", *marks)
    if is_other_map(before, after):
        kind = "map" if "properties" not in after else "no-map"
        yield Change(part, pointer, kind, in_words(before), in_words(after))
    for name, was, told in children(before, after):
        yield from at(part, f"{pointer}{name}", was, told)


def children(before: Descriptor, after: Descriptor) -> Iterator[tuple[str, Descriptor | None, Descriptor | None]]:
    """The places right below, as they were and are; where the place itself is of another kind, those of both."""
    old, new = dict(inside(before)), dict(inside(after))
    changed = kind_of(before) != kind_of(after) or is_other_map(before, after)
    for name in sorted(old.keys() & new.keys() if changed else old.keys() | new.keys()):
        yield name, old.get(name), new.get(name)


def is_other_map(before: Descriptor, after: Descriptor) -> bool:
    """Whether only one of both has the names of an object: they are no longer kept, or shown otherwise."""
    if before.get("collapsed") != after.get("collapsed"):
        return True
    had, has = ({"properties", "values"} & one.keys() for one in (before, after))
    became = "properties" in had and has == {"values"}
    return became or (had == {"values"} and has == {"properties"})


def inside(descriptor: Descriptor) -> Iterator[tuple[str, Descriptor]]:
    for name, inner in descriptor.get("properties", {}).items():
        yield join_property("", name), inner
    for member, name in (("items", ITEMS), ("values", VALUES)):
        if member in descriptor:
            yield f"/{name}", descriptor[member]


def of_type(part: str, pointer: str, before: Descriptor, after: Descriptor) -> Iterator[Change]:
    was, told = kind_of(before), kind_of(after)
    words = in_words(before), in_words(after)
    if was != told and was in LITTLE:
        yield Change(part, pointer, "known", *words)
        return
    if was != told:
        breaks = NOBODY if told in LITTLE - {"null"} else whom(part, direction(part, was, told))
        yield Change(part, pointer, "cut" if told == "cut" else "type", *words, breaks)
    if bool(before.get("nullable")) != bool(after.get("nullable")):
        kind, turn = ("nullable", "wider") if after.get("nullable") else ("not-null", "narrower")
        yield Change(part, pointer, kind, *words, whom(part, turn))


def kind_of(descriptor: Descriptor) -> str:
    """The type; for unknown `divergent`, `cut`, `nothing`, or `object` for one that was always empty."""
    match descriptor["type"], descriptor.get("reason", "empty"), descriptor.get("of"):
        case "unknown", "empty", "object":
            return "object"
        case "unknown", reason, _:
            return {"empty": "nothing", "limit": "cut"}.get(reason, reason)
    return descriptor["type"]


def direction(part: str, was: str, told: str) -> str:
    """Whether a type came to allow more (`wider`), less (`narrower`), or something `other`."""
    if is_wider(part, was, told):
        return "wider"
    return "narrower" if is_wider(part, told, was) else "other"


def is_wider(part: str, was: str, told: str) -> bool:
    """Every segment of a path is a string, whatever it reads like."""
    return told == "divergent" or (was, told) == ("integer", "number") or (part == PATH and told == "string")


def whom(part: str, turn: str) -> str:
    return (IN_ANSWERS if is_answer(part) else IN_REQUESTS)[turn]


def is_answer(part: str) -> bool:
    return part.isdigit()


def in_words(descriptor: Descriptor) -> str:
    """`array of string or null`; of an unknown type, why."""
    kind = kind_of(descriptor)
    if kind == "object" and descriptor["type"] == "unknown":
        kind = "empty object"
    words = UNKNOWN_WORDS.get(kind) or (kind if kind == "empty object" else describe_type(descriptor))
    return f"{words} or null" if descriptor.get("nullable") else words
