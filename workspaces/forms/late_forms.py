"""Forms that were opened before somebody else changed what they show."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from wire.errors import InvalidRequest


def fingerprint(values: Mapping[str, Any]) -> str:
    """Return a short text that differs if the values differ. A form holds that of the values it was opened with."""
    return hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()[:16]


def require_unchanged(opened: str, stored_values: Mapping[str, Any], sent_values: Mapping[str, Any]) -> None:
    """Raise InvalidRequest if the stored values were changed after a form was opened that sends others.

    Call it under the lock of the change: so nobody undoes what somebody else changed without knowing of it.

    opened: the fingerprint that the form holds; empty for a command, which nobody fills in slowly.
    """
    if not opened or opened == fingerprint(stored_values):
        return
    names = [name for name, value in stored_values.items() if value != sent_values.get(name)]
    if names:
        values = ", ".join(f"{name} is now {_show(stored_values[name])}" for name in names)
        raise InvalidRequest(
            f"This was changed after you opened the form: {values}. Nothing was stored. "
            "Send the form again to replace that."
        )


def _show(value: object) -> str:
    return "empty" if value in (None, "") else str(value)
