"""Why a rule by hand cannot stand."""

from __future__ import annotations


class RuleError(ValueError):
    """code: one of the FAULTS of the kind of rule; words: what they say, and what to do."""

    def __init__(self, code: str, words: str) -> None:
        super().__init__(words)
        self.code = code
