"""Mark the properties of outlines that are no longer seen, or leave them out (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from affidavit.operations import REQUEST, Identity, strip_names
from catalog.drift.presence.current_presence import AbsentProperties
from catalog.evidence.outlines import Descriptor, Outline
from catalog.shape_pointers import ITEMS, VALUES, property_name, split_pointer

# A marked descriptor has this member: a text that says that the property is no longer seen, and since when. An outline
# with marked properties has the member, too, but empty.
MARK = "noLongerSeen"
# An outline has this member, a list of statuses, if their bodies were all observed before a baseline reset.
UNOBSERVED = "unobservedBodies"
_MEMBERS = {ITEMS: "items", VALUES: "values"}


def identify_outline(outline: Outline) -> Identity:
    return Identity(outline["method"], strip_names(outline["path"]))


def mark_outlines(
    outlines: Iterable[Outline],
    absent: Mapping[Identity, AbsentProperties],
    unobserved: Mapping[Identity, Sequence[str]],
) -> list[Outline]:
    """Return the outlines, with marks on the properties that are no longer seen and on unobserved bodies."""
    return [
        mark_outline(outline, absent.get(identity, {}), unobserved.get(identity, ()))
        for outline in outlines
        for identity in [identify_outline(outline)]
    ]


def mark_outline(outline: Outline, absent: AbsentProperties, unobserved: Sequence[str]) -> Outline:
    """Return the outline with marks.

    unobserved: the statuses whose bodies were all observed before a baseline reset (list_unobserved_bodies).
    """
    outline = {**outline, UNOBSERVED: unobserved} if unobserved else outline

    def mark_part(part: str, descriptor: Descriptor) -> Descriptor:
        return mark_descriptor(descriptor, {pointer: day for (key, pointer), day in absent.items() if key == part})

    return {**_rewrite_parts(outline, mark_part), MARK: ""} if absent else outline


def mark_descriptor(descriptor: Descriptor, absent: Mapping[str, Any]) -> Descriptor:
    """Return the descriptor of a part with these properties marked.

    absent: the day on which each property was last seen, by pointer; None if it is not known.
    """
    for pointer, last_day in absent.items():
        text = f"No longer seen: last seen on {last_day}." if last_day else "No longer seen."
        descriptor = _mark_property(descriptor, split_pointer(pointer), text)
    return descriptor


def drop_marked(outline: Outline) -> Outline:
    """Return the outline without its marked properties.

    Marked properties beside `values` stay: without them, their names would count as keys of the map.
    """
    return _rewrite_parts(outline, lambda _, descriptor: _drop_marked(descriptor)) if MARK in outline else outline


def is_marked(descriptor: Descriptor) -> bool:
    return MARK in descriptor


def remove_mark(descriptor: Descriptor) -> Descriptor:
    return {name: value for name, value in descriptor.items() if name != MARK}


def describe_mark(descriptor: Descriptor) -> dict[str, Any]:
    """Return the members of a schema, or of a parameter in OpenAPI, that say what the mark says; {} without one."""
    return {"deprecated": True, "description": descriptor[MARK]} if is_marked(descriptor) else {}


def _rewrite_parts(outline: Outline, rewrite: Callable[[str, Descriptor], Descriptor]) -> Outline:
    requests = {part: rewrite(part, outline[part]) for part in ("query", REQUEST) if outline[part] is not None}
    responses = {status: rewrite(status, descriptor) for status, descriptor in outline["responses"].items()}
    return {**outline, **requests, "responses": responses}


def _mark_property(descriptor: Descriptor, steps: Sequence[str], text: str) -> Descriptor:
    """Return the descriptor with a mark at `steps`; the same one if it has no such node."""
    if not steps:
        return {**descriptor, MARK: text}
    step, *inner_steps = steps
    if step in _MEMBERS:
        member = _MEMBERS[step]
        marked = {member: _mark_property(descriptor[member], inner_steps, text)} if member in descriptor else {}
        return {**descriptor, **marked}
    name, properties = property_name(step), descriptor.get("properties", {})
    if name not in properties:
        return descriptor
    return {**descriptor, "properties": {**properties, name: _mark_property(properties[name], inner_steps, text)}}


def _drop_marked(descriptor: Descriptor) -> Descriptor:
    rewritten = {member: _drop_marked(descriptor[member]) for member in _MEMBERS.values() if member in descriptor}
    if "properties" in descriptor:
        rewritten["properties"] = {
            name: _drop_marked(inner)
            for name, inner in descriptor["properties"].items()
            if "values" in descriptor or not is_marked(inner)
        }
    return {**descriptor, **rewritten}
