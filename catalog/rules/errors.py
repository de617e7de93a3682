"""Why a rule is refused."""

from __future__ import annotations

from collections.abc import Mapping

from wire.errors import InvalidRequest

# Why an override that would change nothing is refused, by code
NO_CHANGE: Mapping[str, str] = {
    "reset": "Nothing changed: nothing has been observed since the last baseline reset.",
    "map": "Nothing changed: this field is already shown as a map.",
    "properties": "Nothing changed: this field is already shown with its properties.",
    "hint": "Nothing changed: the hint already has this value.",
}


class RuleError(InvalidRequest):
    """A rule cannot be made.

    reason: a code, defined for each kind of rule.
    detail: the words that say what is wrong, and what to do.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
