"""The versions of APIs in paths: `/v2`, `/rest/api/2/issue`. They are part of the API, not data."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .segment_form import detect_segment_form

_SCAFFOLD = re.compile(r"v[0-9]+(?:(?:alpha|beta|rc)[0-9]*|(?:_[0-9]{1,3}){1,2})?|api|", re.IGNORECASE)
_VERSION = re.compile(r"[vV]?[0-9]{1,3}(?:\.[0-9]{1,3}){1,2}")
_BARE_VERSION = re.compile(r"[1-9]|20[0-9]{2}-[0-9]{2}-[0-9]{2}")
_DOTTED_VERSION = re.compile(r"(?:20[0-9]{2}|[0-9]{1,2})\.[0-9]{1,2}(?:\.[0-9]{1,2})?")
_MARKED_VERSION = re.compile(r"[vV][0-9]{1,3}\.[0-9]{1,2}")
_VERSION_BEHIND_API = re.compile(r"[0-9]|20[0-9]{2}-(?:0[1-9]|1[0-2])")
_API_NAMES = frozenset({"api", "rest", "ws"})

MAX_BEFORE_VERSION = 3  # segments before the version of an API
MAX_VERSIONS = 3  # versions such as `v62.0` that an API answers side by side


def is_scaffold(segment: str, *, leading: bool = True) -> bool:
    """Return whether a segment says only which API this is: `api`, `v2`.

    leading: whether only such segments come before it.

    Later in a path, `1.29` is data; at the beginning it is the version of the API.
    """
    return bool(_SCAFFOLD.fullmatch(segment) or (leading and _VERSION.fullmatch(segment)))


def is_version(segment: str, before: Sequence[str | None]) -> bool:
    """Return whether a segment reads like the version of an API and is where an API has its version.

    segment: a segment that others follow.
    before: the segments before it, None for a parameter.

    The version is first (`/1/boards`, `/2010-04-01/accounts`), or behind a name that any API has: `/rest/api/2/issue`,
    `/admin/api/2024-01/orders`, `/rest/agile/1.0/board`.
    """
    if not before:
        return bool(_BARE_VERSION.fullmatch(segment))
    if not (segment[:1].isdigit() and _follows_words(before)):
        return False
    if _is_api_name(before[-1]) and _VERSION_BEHIND_API.fullmatch(segment):
        return True
    return any(map(_is_api_name, before[-2:])) and bool(_DOTTED_VERSION.fullmatch(segment))


def may_be_version(segment: str, before: Sequence[str | None]) -> bool:
    """Return whether a segment may be the version of an API: `/geo/1.0/direct`.

    It is one if traffic has no other value in its place.

    segment: a segment that others follow.
    before: the segments before it, None for a parameter.
    """
    if is_version(segment, before):
        return True
    return bool(before and _DOTTED_VERSION.fullmatch(segment)) and _follows_words(before)


def is_marked_version(segment: str, before: Sequence[str | None]) -> bool:
    """Return whether a segment reads like a version that says so itself, behind a few words: `/services/data/v62.0`.

    before: the segments before it, None for a parameter.
    """
    return bool(before and _MARKED_VERSION.fullmatch(segment)) and _follows_words(before)


def _follows_words(before: Sequence[str | None]) -> bool:
    """Return whether a few words come before a segment, and no data."""
    return len(before) <= MAX_BEFORE_VERSION and all(
        segment is not None and "{" not in segment and detect_segment_form(segment) is None for segment in before
    )


def _is_api_name(segment: str | None) -> bool:
    return segment is not None and segment.lower() in _API_NAMES


def is_written_as_version(segment: str) -> bool:
    return any(form.fullmatch(segment) for form in (_BARE_VERSION, _DOTTED_VERSION, _VERSION_BEHIND_API))
