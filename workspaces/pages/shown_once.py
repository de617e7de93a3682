"""Keep keys and secrets for the page after a redirect: in the encrypted session, for ten minutes at most.

Each is a member of the session of its own: two forms that are sent at the same moment keep both of their keys.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest

from workspaces.pages.kept_in_session import build_entry, name_entry

_MARK = "affidavit.shown_once"


def keep_for_next_page(request: HttpRequest, name: str, values: Mapping[str, Any]) -> None:
    """Keep JSON values under a name, beside others of this name, for the page to which a redirect leads."""
    request.session[f"{name_entry(name)} {secrets.token_urlsafe(6)}"] = build_entry(values)


def take_once(request: HttpRequest, name: str, **facts: Any) -> list[dict[str, Any]]:
    """Return and forget everything that was kept under this name and has these members, the oldest first.

    What expired is forgotten too. `suffix` tells the ids of several on one page apart.
    """
    prefix = f"{name_entry(name)} "
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


def shows_once(request: HttpRequest) -> bool:
    """Return whether the answer to this request shows something that later answers will not show."""
    return _MARK in request.META
