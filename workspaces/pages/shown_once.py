"""Keep keys and secrets for the page after a redirect: in the encrypted session, for ten minutes at most."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest

LIFETIME_SECONDS = 600
_MARK = "affidavit.shown_once"


def keep_for_next_page(request: HttpRequest, name: str, values: Mapping[str, Any]) -> None:
    """Keep JSON values under a name for the page to which a redirect leads."""
    request.session[_session_key(name)] = {"until": time.time() + LIFETIME_SECONDS, "values": dict(values)}


def take_once(request: HttpRequest, name: str) -> Mapping[str, Any] | None:
    """Return and forget the values that were kept under this name; None if there are none, or if they expired."""
    entry = request.session.pop(_session_key(name), None)
    if entry is None:
        return None
    request.META[_MARK] = name
    values: Mapping[str, Any] = entry["values"]
    return values if time.time() < entry["until"] else None


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


def _session_key(name: str) -> str:
    return f"shown once: {name}"
