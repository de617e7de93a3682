"""The order in which a verifier checks, and the reasons that each check gives (pure; contract §3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from affidavit import CHECKS, REASONS, Reason

ENDINGS = {1: "st", 2: "nd", 3: "rd"}


@dataclass(frozen=True)
class OrderedCheck:
    """A check and its position in the order, from 1.

    title: what it makes sure of.
    reasons: the reasons of its failure.
    """

    position: int
    name: str
    title: str
    reasons: Sequence[Reason]

    @property
    def ordinal(self) -> str:
        """Return the position as `1st`, `2nd`; the order is too short for `21st`."""
        return f"{self.position}{ENDINGS.get(self.position, 'th')}"

    @property
    def before(self) -> int:
        """Return how many checks come before it."""
        return self.position - 1

    @property
    def after(self) -> int:
        """Return how many checks come after it."""
        return len(CHECKS) - self.position


@cache
def list_checks() -> Sequence[OrderedCheck]:
    """Return every check in its order."""
    return [
        OrderedCheck(position, name, title, [reason for reason in REASONS.values() if name in _name_checks(reason)])
        for position, (name, title) in enumerate(CHECKS.items(), 1)
    ]


def find_failed_checks(reason: str) -> Sequence[OrderedCheck]:
    """Return the checks that give a reason, in their order: one of them failed. [] for an unknown reason."""
    return [check for check in list_checks() if reason in [possible_reason.slug for possible_reason in check.reasons]]


def _name_checks(reason: Reason) -> tuple[str, str]:
    return (reason.check, reason.later_check)
