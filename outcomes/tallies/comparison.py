"""The environment and the period with whose outcomes those of a page are compared."""

from __future__ import annotations

from dataclasses import dataclass, replace

from wire.time.period import Period
from workspaces.models import Environment

PREVIOUS, SIBLING, NOTHING = "previous", "sibling", "nothing"


@dataclass(frozen=True)
class Comparison:
    """The environment and period with whose outcomes each key is compared.

    kind: PREVIOUS, an earlier period of the same environment; SIBLING, another environment in the same period; or
        NOTHING, an empty period.
    """

    environment: Environment
    period: Period
    kind: str

    @property
    def name(self) -> str:
        """Return how a page names what is compared: another environment by its label."""
        return {PREVIOUS: "previous period", SIBLING: str(self.environment)}.get(self.kind, "")


def compare_with_previous(environment: Environment, period: Period) -> Comparison:
    return Comparison(environment, period.previous(), PREVIOUS)


def compare_with_nothing(environment: Environment, period: Period) -> Comparison:
    return Comparison(environment, replace(period, end=period.start), NOTHING)
