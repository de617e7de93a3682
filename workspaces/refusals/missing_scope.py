"""Say which scope or environment a key lacked, as far as its counted requests show it."""

from __future__ import annotations

import re

from django.urls import Resolver404, resolve
from django.utils.text import get_text_list

from workspaces.refusals.queries import RefusalGroup

MISSING = "scope-missing"
ANNOTATE = "POST /api/annotations"  # the endpoint at which a request may name all environments
PLACEHOLDER = re.compile(r"{\w+}")


def describe_missing_scope(refusal: RefusalGroup) -> str:
    """Return what the key lacks, with names in backticks; "" if these requests do not show it."""
    scope = find_scope(refusal.endpoint)
    if refusal.code != MISSING or not scope:
        return ""
    if scope not in refusal.key.scopes:
        own = get_text_list([f"`{name}`" for name in refusal.key.scopes], "and")
        return f"This endpoint needs a key with the scope `{scope}`; this one has {own}"
    if refusal.key.environment_names:
        names = get_text_list([f"`{name}`" for name in refusal.key.environment_names], "and")
        all_too = ", or all of them" if refusal.endpoint == ANNOTATE else ""
        return f"This key may be used in {names} only; the requests named another environment{all_too}"
    return ""


def find_scope(endpoint: str) -> str:
    """Return the scope that an endpoint such as `POST /api/conversations` requires; "" if none is known."""
    _, _, path = endpoint.partition(" ")
    try:
        view = resolve(PLACEHOLDER.sub("0", path)).func
    except Resolver404:
        return ""
    return str(getattr(getattr(view, "cls", None), "scope", ""))
