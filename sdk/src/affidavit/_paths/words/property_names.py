"""What the name of a property promises about its values: `branch` names one thing, `status` is one of a few values."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntFlag
from functools import lru_cache

from affidavit._shapes.name_words import split_words

from .singulars import singularize

_ENUMERATIONS = frozenset({
    "action", "aggregation", "category", "class", "color", "currency", "direction", "engine", "entity",
    "event", "format", "icon", "kind", "language", "level", "locale", "method", "mode", "operation",
    "operator", "order", "permission", "priority", "protocol", "reason", "rel", "resource", "result", "role",
    "scope", "severity", "sort", "source", "state", "status", "type", "unit", "verb", "visibility",
})  # fmt: skip
_IDENTITIES = frozenset({
    "branch", "code", "domain", "email", "guid", "handle", "host", "hostname", "id", "identifier", "key", "label",
    "login", "name", "number", "path", "ref", "repo", "repository", "sha", "sku", "slug", "tag", "title", "uid", "user",
    "username", "uuid",
})  # fmt: skip


class Reading(IntFlag):
    """The kind of values that the name of a property promises."""

    ENUMERATION = 1  # one of a few values, such as `status`
    OTHER = 2
    IDENTITY = 4  # identifies one thing, such as `name`
    RELATED = 8  # named after the segment before the value, such as `user` in `/users/anna`


NO_READING = Reading(0)


@lru_cache(maxsize=20_000)
def read_name(name: str) -> Reading:
    """Return what the last word of a name promises: `event_name` and `eventname` hold a name, `nameFormat` does not."""
    parts = split_words(name)
    last = singularize(parts[-1]) if parts else ""
    if last in _IDENTITIES or last.endswith("name"):
        return Reading.IDENTITY
    return Reading.ENUMERATION if last in _ENUMERATIONS else Reading.OTHER


def join_readings(readings: Iterable[Reading]) -> Reading:
    union = NO_READING
    for reading in readings:
        union |= reading
    return union
