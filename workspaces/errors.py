"""Errors of the environments that a request names and of the scopes of its key (contract §1), and of late forms."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from wire.errors import DomainError, InvalidRequest, NotFound


class EnvironmentRemoved(NotFound):
    """The environment was removed while the request was on its way."""

    def __init__(self) -> None:
        super().__init__("This environment was removed in the meantime. Nothing was stored.")


class WorkspaceRemoved(NotFound):
    """The workspace was deleted while the request was on its way."""

    def __init__(self) -> None:
        super().__init__("This workspace was deleted in the meantime. Nothing was stored.")


class UnknownEnvironment(DomainError):
    """The workspace has no environment of exactly this name (contract §1)."""

    code = "unknown-environment"

    def __init__(self, environments: Sequence[str]) -> None:
        names = ", ".join(environments) or "none that this key may use"
        detail = f"This workspace has: {names}. Names are compared exactly."
        super().__init__(detail, extra={"environments": list(environments)})


class ScopeMissing(DomainError):
    """The key lacks the scope of an endpoint, or may not use the environment that a request names (contract §1)."""

    code = "scope-missing"


def fingerprint(values: Mapping[str, Any]) -> str:
    """Return a short text that differs if the values differ. A form holds that of the values it was opened with."""
    return hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()[:16]


def require_unchanged(opened: str, stored: Mapping[str, Any], sent: Mapping[str, Any]) -> None:
    """Raise InvalidRequest if the stored values were changed after a form was opened that sends others.

    Call it under the lock of the change: so nobody undoes what somebody else changed without knowing of it.

    opened: the fingerprint that the form holds; empty for a command, which nobody fills in slowly.
    """
    if not opened or opened == fingerprint(stored):
        return
    names = [name for name in stored if stored[name] != sent.get(name)]
    if names:
        values = ", ".join(f"{name} is now {'empty' if stored[name] in (None, '') else stored[name]}" for name in names)
        raise InvalidRequest(
            f"This was changed after you opened the form: {values}. Nothing was stored. "
            "Send the form again to replace that."
        )
