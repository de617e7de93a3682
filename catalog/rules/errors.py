"""Why a rule is refused."""

from __future__ import annotations

from wire.errors import InvalidRequest


class RuleError(InvalidRequest):
    """reason: a code of the errors of its kind of rule; detail: what is wrong, and what to do."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
