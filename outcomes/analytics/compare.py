"""Choose the outcomes with which a page compares its own: the previous period, another environment, or none."""

from __future__ import annotations

from outcomes.tallies.keys import SIBLING, Comparison, compare_with_nothing, compare_with_previous
from wire.period import Period
from workspaces.models import Environment

NO_COMPARISON = "none"


def choose_comparison(environment: Environment, period: Period, name: str) -> Comparison:
    """Return the comparison that an address names; an environment that does not exist is the previous period."""
    if sibling := find_sibling(environment, name):
        return Comparison(sibling, period, SIBLING)
    if name == NO_COMPARISON or period.preset == "all":
        return compare_with_nothing(environment, period)
    return compare_with_previous(environment, period)


def find_sibling(environment: Environment, name: str) -> Environment | None:
    """Return another environment of the same workspace by its exact name."""
    siblings = environment.workspace.environments.exclude(pk=environment.pk)
    return siblings.filter(name=name).first() if name else None
