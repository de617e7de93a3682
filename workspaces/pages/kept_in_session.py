"""Keep values of a person for later pages, in the encrypted session, for ten minutes at most."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest

LIFETIME_SECONDS = 600


def keep_in_session(request: HttpRequest, name: str, values: Mapping[str, Any]) -> None:
    """Keep JSON values under a name, in place of earlier ones. Any number of pages may show them."""
    request.session[name_entry(name)] = build_entry(values)


def find_in_session(request: HttpRequest, name: str) -> Mapping[str, Any] | None:
    """Return the values that were kept under this name; None if there are none or they have expired."""
    entry = request.session.get(name_entry(name))
    if entry is None:
        return None
    if time.time() >= entry["until"]:
        del request.session[name_entry(name)]
        return None
    values: Mapping[str, Any] = entry["values"]
    return values


def build_entry(values: Mapping[str, Any]) -> dict[str, Any]:
    return {"until": time.time() + LIFETIME_SECONDS, "values": dict(values)}


def name_entry(name: str) -> str:
    # All entries begin like this, also those that are shown again and again: under another beginning, an upgrade would
    # lose the keys that wait for their page.
    return f"shown once: {name}"
