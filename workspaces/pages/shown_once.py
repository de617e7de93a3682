"""Keep keys and secrets for the page after a redirect: in the encrypted session, for ten minutes at most.

Each is a member of the session of its own: two forms that are sent at the same moment keep both of their keys.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest

LIFETIME_SECONDS = 600
_MARK = "affidavit.shown_once"


def keep_for_next_page(request: HttpRequest, name: str, values: Mapping[str, Any]) -> None:
    """Keep JSON values under a name, beside others of this name, for the page to which a redirect leads."""
    request.session[f"{_session_key(name)} {secrets.token_urlsafe(6)}"] = _build_entry(values)


def take_once(request: HttpRequest, name: str, **facts: Any) -> list[dict[str, Any]]:
    """Return and forget everything that was kept under this name and has these members, the oldest first.

    What expired is forgotten too. `suffix` tells the ids of several on one page apart.
    """
    prefix = f"{_session_key(name)} "
    entries = {member: entry for member, entry in request.session.items() if member.startswith(prefix)}
    now = time.time()
    taken_entries = []
    for member, entry in sorted(entries.items(), key=lambda item: item[1]["until"]):
        if now >= entry["until"] or facts.items() <= entry["values"].items():
            del request.session[member]
            request.META[_MARK] = name
            if now < entry["until"]:
                taken_entries.append(entry["values"])
    suffixes = ["", *(f"-{number}" for number in range(2, len(taken_entries) + 1))]
    return [{**values, "suffix": suffix} for values, suffix in zip(taken_entries, suffixes, strict=False)]


def keep_for_a_while(request: HttpRequest, name: str, values: Mapping[str, Any]) -> None:
    """Keep JSON values under a name, in place of earlier ones, for pages that show them again and again."""
    request.session[_session_key(name)] = _build_entry(values)


def find_for_a_while(request: HttpRequest, name: str) -> Mapping[str, Any] | None:
    """Return the values that were kept under this name, again and again until they expire; None from then on."""
    entry = request.session.get(_session_key(name))
    if entry is None:
        return None
    if time.time() >= entry["until"]:
        del request.session[_session_key(name)]
        return None
    values: Mapping[str, Any] = entry["values"]
    return values


def shows_once(request: HttpRequest) -> bool:
    """Return whether the answer to this request shows something that later answers will not show."""
    return _MARK in request.META


def _build_entry(values: Mapping[str, Any]) -> dict[str, Any]:
    return {"until": time.time() + LIFETIME_SECONDS, "values": dict(values)}


def _session_key(name: str) -> str:
    return f"shown once: {name}"
