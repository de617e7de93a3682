"""Which words a table of phases, the spans between annotations, contains: only these are explained under it."""

from __future__ import annotations

from collections.abc import Iterable

from django import template

from workspaces.annotations.phase_comparison import PhaseChange

register = template.Library()


@register.filter
def any_too_early(changes: Iterable[PhaseChange]) -> bool:
    return any(change.is_too_early for change in changes)


@register.filter
def any_chance(changes: Iterable[PhaseChange]) -> bool:
    return any(change.may_be_chance for change in changes)
