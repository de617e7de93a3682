"""Compare two outlines of an operation: what changed, and whom it breaks (pure).

The rules are oasdiff's, applied to what was observed; where they leave a choice, a false alarm is better than a missed
break. A response that allows more than before breaks consumers. A request that allows more breaks the producer; one
that allows less breaks consumers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from affidavit.operations import REQUEST
from catalog.change_kinds import BOTH, CHANGE_KINDS, CONSUMER, NOBODY, PRODUCER
from catalog.change_successor import locate_successor
from catalog.evidence.outlines import Descriptor, Outline, list_media_types
from catalog.evidence.type_names import describe_type
from catalog.shape_pointers import ITEMS, VALUES, join_property

PATH = "path"
LITTLE_KNOWN = frozenset({"nothing", "null", "cut"})  # a type seen after one of these is not a change of the operation
UNKNOWN_WORDS = {"nothing": "nothing yet", "cut": "cut by a limit"}
# Who breaks when a type becomes wider, narrower or a different one.
BREAKS_IN_RESPONSES = {"wider": CONSUMER, "narrower": NOBODY, "other": CONSUMER}
BREAKS_IN_REQUESTS = {"wider": PRODUCER, "narrower": CONSUMER, "other": BOTH}

IsAlwaysThere = Callable[[str, str], bool]
"""Takes part and pointer of a new node; returns whether it was always present since it appeared."""
WasUsuallyNull = Callable[[str, str], bool]
"""Takes part and pointer of a node that was always null; returns whether it was null often enough to rely on."""


@dataclass(frozen=True)
class Change:
    """One change between two outlines.

    part: `path`, `query`, `request` or a status.
    pointer: the node in it.
    before, after: the node before and after, in words: mostly its types, otherwise names, media types or counts.
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
    def after_words(self) -> str:
        return self.after

    @property
    def successor(self) -> str:
        return locate_successor(self.pointer, self.kind, self.after)

    @property
    def is_of_nothing(self) -> bool:
        """Return whether the node's type was entirely unknown before."""
        return self.kind == "known" and self.before == UNKNOWN_WORDS["nothing"]


def compare_outlines(
    before: Outline,
    after: Outline,
    *,
    is_always_there: IsAlwaysThere = lambda part, pointer: True,
    was_usually_null: WasUsuallyNull = lambda part, pointer: False,
) -> list[Change]:
    """Return all changes by part and node, then those of media types; [] if both have equal shapes and media types."""
    changes = [*_compare_parameters(before["parameters"], after["parameters"])]
    for part in ("query", "request"):
        if before[part] is None and not _has_kept_requests(before):
            changes += _describe_first_request(part, after[part])
        else:
            changes += _compare_nodes(part, "", before[part], after[part])
    for status in sorted(before["responses"].keys() | after["responses"].keys()):
        changes += _compare_nodes(status, "", before["responses"].get(status), after["responses"].get(status))
    for part in (REQUEST, *sorted(before["responses"])):
        changes += _compare_media_types(part, list_media_types(before, part), list_media_types(after, part))
    return [_weigh_change(change, is_always_there, was_usually_null) for change in changes]


def _has_kept_requests(outline: Outline) -> bool:
    """Return whether requests were observed: only those answered with 2xx or 3xx are kept (contract §4)."""
    return any(status[0] in "23" for status in outline["responses"])


def _describe_first_request(part: str, descriptor: Descriptor | None) -> Iterator[Change]:
    if descriptor is not None:
        yield Change(part, "", "known", UNKNOWN_WORDS["nothing"], describe_descriptor(descriptor))


def _compare_media_types(part: str, before: Sequence[str], after: Sequence[str]) -> Iterator[Change]:
    """Report the media types of a part that were added.

    The first media types of a part are not a change: bodies may have been reported before, without media types.
    """
    if before and set(after) - set(before):
        breaks = CONSUMER if _is_response(part) else NOBODY
        yield Change(part, "", "media-type", ", ".join(before), ", ".join(after), breaks)


def list_first_media_types(before: Outline, after: Outline) -> list[tuple[str, Sequence[str]]]:
    """Return each part whose media types were reported for the first time, with these types. This is not a change."""
    parts = (REQUEST, *sorted(after["responses"]))
    media_types = [(part, list_media_types(after, part)) for part in parts if not list_media_types(before, part)]
    return [(part, names) for part, names in media_types if names]


def build_removal(part: str, pointer: str, before: Descriptor, kind: str = "gone") -> Change:
    """Return the change of a node that is no longer sent. An error status that is no longer sent breaks nobody."""
    is_error = _is_response(part) and not pointer and part[0] not in "23"
    breaks = NOBODY if is_error else CONSUMER if _is_response(part) else BOTH
    return Change(part, pointer, kind, describe_descriptor(before), "", breaks)


def build_not_always(part: str, pointer: str, before: str, after: str) -> Change:
    """Return the change of a node that is no longer always present: it breaks its readers, not its senders."""
    return Change(part, pointer, "optional", before, after, CONSUMER if _is_response(part) else NOBODY)


def describe_descriptor(descriptor: Descriptor) -> str:
    """Return `array of string or null`; for an unknown type, the reason or the different types."""
    kind = _kind_of(descriptor)
    if kind == "object" and descriptor["type"] == "unknown":
        kind = "empty object"
    words = UNKNOWN_WORDS.get(kind) or (kind if kind == "empty object" else describe_type(descriptor))
    return f"{words} or null" if descriptor.get("nullable") else words


def _weigh_change(change: Change, is_always_there: IsAlwaysThere, was_usually_null: WasUsuallyNull) -> Change:
    """Adjust a change by facts that outlines do not have: whether the node is required, or was always null."""
    if change.kind == "new" and change.breaks and not is_always_there(change.part, change.pointer):
        return replace(change, breaks=NOBODY)  # it is new in a request, but optional
    if (change.kind, change.before) == ("known", "null") and was_usually_null(change.part, change.pointer):
        return replace(change, kind="type", breaks=_breaks_whom(change.part, "wider"))  # callers relied on null
    return change


def _compare_parameters(before: Mapping[str, Descriptor], after: Mapping[str, Descriptor]) -> Iterator[Change]:
    """Compare by position, because two outlines of one template have equally many parameters."""
    for (old_name, old), (new_name, new) in zip(before.items(), after.items(), strict=True):
        pointer = join_property("", new_name)
        if old_name != new_name:
            yield Change(PATH, pointer, "renamed", old_name, new_name)
        yield from _compare_shapes(PATH, pointer, old, new)


def _compare_nodes(part: str, pointer: str, before: Descriptor | None, after: Descriptor | None) -> Iterator[Change]:
    """Report only the outermost added or removed node."""
    if before is not None and after is not None:
        yield from _compare_shapes(part, pointer, before, after)
    elif after is not None:
        breaks = NOBODY if _is_response(part) else CONSUMER
        yield Change(part, pointer, "new", "", describe_descriptor(after), breaks)
    elif before is not None:
        yield build_removal(part, pointer, before)


def _compare_shapes(part: str, pointer: str, before: Descriptor, after: Descriptor) -> Iterator[Change]:
    yield from _compare_types(part, pointer, before, after)
    if before.get("redacted") != after.get("redacted"):
        marks = ["redacted" if descriptor.get("redacted") else "" for descriptor in (before, after)]
        yield Change(part, pointer, "redacted", *marks)
    if _is_other_map(before, after):
        kind = "map" if "properties" not in after else "no-map"
        yield Change(part, pointer, kind, describe_descriptor(before), describe_descriptor(after))
    for step, old, new in _pair_children(before, after):
        yield from _compare_nodes(part, f"{pointer}{step}", old, new)


def _pair_children(before: Descriptor, after: Descriptor) -> Iterator[tuple[str, Descriptor | None, Descriptor | None]]:
    """Yield each child before and after. If the node changed its kind, yield only children that both have."""
    old, new = dict(_list_children(before)), dict(_list_children(after))
    is_other_kind = _kind_of(before) != _kind_of(after) or _is_other_map(before, after)
    for step in sorted(old.keys() & new.keys() if is_other_kind else old.keys() | new.keys()):
        yield step, old.get(step), new.get(step)


def _is_other_map(before: Descriptor, after: Descriptor) -> bool:
    """Return whether one descriptor lists the names of an object, and the other does not.

    The other left them out because they were too many (`collapsed`), or is a map.
    """
    if before.get("collapsed") != after.get("collapsed"):
        return True
    old, new = ({"properties", "values"} & descriptor.keys() for descriptor in (before, after))
    became_map = "properties" in old and new == {"values"}
    return became_map or (old == {"values"} and new == {"properties"})


def _list_children(descriptor: Descriptor) -> Iterator[tuple[str, Descriptor]]:
    for name, child in descriptor.get("properties", {}).items():
        yield join_property("", name), child
    for member, step in (("items", ITEMS), ("values", VALUES)):
        if member in descriptor:
            yield f"/{step}", descriptor[member]


def _compare_types(part: str, pointer: str, before: Descriptor, after: Descriptor) -> Iterator[Change]:
    old, new = _kind_of(before), _kind_of(after)
    words = describe_descriptor(before), describe_descriptor(after)
    if old != new and old in LITTLE_KNOWN:
        yield Change(part, pointer, "known", *words)
        return
    if old != new:
        is_null_alone = new == "null" and bool(before.get("nullable"))
        direction = "narrower" if is_null_alone else _find_direction(part, old, new)
        breaks = NOBODY if new in LITTLE_KNOWN - {"null"} else _breaks_whom(part, direction)
        yield Change(part, pointer, "cut" if new == "cut" else "type", *words, breaks)
    elif before.get("format") != after.get("format"):
        yield Change(part, pointer, "type", *words, _breaks_whom(part, "wider"))
    if new != "null" and bool(before.get("nullable")) != bool(after.get("nullable")):
        kind, direction = ("nullable", "wider") if after.get("nullable") else ("not-null", "narrower")
        yield Change(part, pointer, kind, *words, _breaks_whom(part, direction))


def _kind_of(descriptor: Descriptor) -> str:
    """Return the type.

    For an unknown type, return `divergent`, `cut` or `nothing`, or `object` for an object that was always empty.
    """
    match descriptor["type"], descriptor.get("reason", "empty"), descriptor.get("of"):
        case "unknown", "empty", "object":
            return "object"
        case "unknown", reason, _:
            return {"empty": "nothing", "limit": "cut"}.get(reason, str(reason))
    return str(descriptor["type"])


def _find_direction(part: str, old: str, new: str) -> str:
    """Return whether a type became `wider`, `narrower`, or an `other` one."""
    if _is_wider(part, old, new):
        return "wider"
    return "narrower" if _is_wider(part, new, old) else "other"


def _is_wider(part: str, old: str, new: str) -> bool:
    """Return whether `new` allows more than `old`. In a path, `string` allows every segment."""
    return new == "divergent" or (old, new) == ("integer", "number") or (part == PATH and new == "string")


def _breaks_whom(part: str, direction: str) -> str:
    return (BREAKS_IN_RESPONSES if _is_response(part) else BREAKS_IN_REQUESTS)[direction]


def _is_response(part: str) -> bool:
    return part.isdigit()
