"""The errors of workspaces and environments, and of the scopes of a key (contract §1)."""

from __future__ import annotations

from collections.abc import Sequence

from wire.errors import DomainError, NotFound


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


class InvalidWorkspace(ValueError):
    """A workspace or environment that cannot be created so; the message says why."""
