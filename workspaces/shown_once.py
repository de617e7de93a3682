"""Keys and secrets that the next page shows once, after a redirect: in the session, encrypted, for ten minutes."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from typing import Any

from cryptography.fernet import InvalidToken
from django.http import HttpRequest

from wire.redelivery.encryption import decrypt, encrypt

LIFETIME_SECONDS = 600


def keep_for_next_page(request: HttpRequest, name: str, values: Mapping[str, Any]) -> None:
    """Keep values of JSON under a name for the page that a redirect leads to."""
    document = json.dumps({"until": time.time() + LIFETIME_SECONDS, "values": dict(values)})
    request.session[_session_key(name)] = base64.b64encode(encrypt(document.encode())).decode()


def take_once(request: HttpRequest, name: str) -> Mapping[str, Any] | None:
    """Return what was kept under this name, and forget it; None if there is nothing any more."""
    text = request.session.pop(_session_key(name), None)
    if not isinstance(text, str):
        return None
    try:
        document = json.loads(decrypt(base64.b64decode(text)))
    except (InvalidToken, ValueError):  # SECRET_KEY was changed in between
        return None
    values: Mapping[str, Any] = document["values"]
    return values if time.time() < document["until"] else None


def _session_key(name: str) -> str:
    return f"shown once: {name}"
