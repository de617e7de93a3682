"""Say what to do about broken joins, and how many will still heal (pure).

An id that was never seen may still heal, unless it is older than any that healed was when it healed.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from outcomes.broken_joins.cause_groups import Cause
from outcomes.broken_joins.diagnose import ADVICE
from outcomes.templatetags.outcome_words import format_length


def write_advice(cause: Cause, longest: timedelta | None) -> str:
    """Return what to do about the joins of a cause.

    longest: the longest time to heal so far; None if nothing has healed.
    """
    if cause.kind != "never-seen" or longest is None or cause.may_heal is None:
        return ADVICE[cause.kind].to_do
    older, young_joins = cause.count - cause.may_heal, _count_joins(cause.may_heal, cause.ids_that_may_heal)
    if not older:
        return f"Wait: {young_joins} may still heal; the longest ever took {format_length(longest)}."
    chance = f"{young_joins} may still heal; " if cause.may_heal else ""
    verb = "is" if older == 1 else "are"
    return f"{chance}{_count_joins(older, cause.older_ids)} {verb} {_explain_age(longest)}"


def _count_joins(joins: int, ids: int) -> str:
    return f"{joins:,} join{'' if joins == 1 else 's'} of {ids:,} conversation id{'' if ids == 1 else 's'}"


def advise_on_one(kind: str, first_reported_at: datetime | None, longest: timedelta | None, *, now: datetime) -> str:
    """Return what to do about one id with this diagnosis.

    first_reported_at: None if the id has no report.
    """
    if kind != "never-seen" or longest is None or first_reported_at is None or now - first_reported_at <= longest:
        return ADVICE[kind].to_do
    return f"O{_explain_age(longest)[1:]}"


def estimate_healing(pending: float, healed: int, broken: int) -> float:
    """Estimate what share of some broken joins will still heal, 0 to 1.

    pending: the share of healings that take longer than these joins have waited so far.
    healed, broken: how many joins have healed, and how many are broken: by these, most heal or hardly any.
    """
    still_healing = healed * pending
    return still_healing / (still_healing + broken) if still_healing else 0.0


def _explain_age(longest: timedelta) -> str:
    words = f"the longest ever took {format_length(longest)}"
    return f"older than any that healed ({words}): check where the id comes from."
