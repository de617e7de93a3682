"""Say what to do about broken joins (pure).

A join whose id was never seen may still heal, unless it has waited longer than any healed join had to wait.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from outcomes.broken_joins.causes.groups import Cause
from workspaces.templatetags.times import format_length


@dataclass(frozen=True)
class Advice:
    """A diagnosis in words: its name, what it means, and what to do."""

    name: str
    meaning: str
    to_do: str


ADVICE: Mapping[str, Advice] = {
    "placeholder": Advice(
        "placeholder",
        "The id is a placeholder that was never filled in.",
        "Read the widget's conversation id after its first turn, and report nothing while there is none. Earlier"
        " reports cannot be joined.",
    ),
    "other-environment": Advice(
        "other environment",
        "The conversation is known in another environment of this workspace.",
        "Name that environment in the report, or report with the backend that belongs to it.",
    ),
    "altered": Advice(
        "altered",
        "A known id differs only by case, outer white space, quotes, or a URL or path around it.",
        "Store and send the id exactly as the widget gave it, as an opaque string. Report earlier outcomes"
        " again with that id.",
    ),
    "never-seen": Advice(
        "never seen",
        "No conversation with this id has arrived so far.",
        "Wait: it heals by itself if the conversation arrives. Else check where the id comes from.",
    ),
    "late": Advice(
        "late",
        "The report came before its conversation.",
        "Nothing: it healed when the conversation arrived.",
    ),
}


def write_advice(cause: Cause, longest: timedelta | None) -> str:
    """Return what to do about the joins of a cause.

    longest: the longest time to heal so far; None if nothing has healed.
    """
    if cause.kind != "never-seen" or longest is None or cause.may_heal is None:
        return ADVICE[cause.kind].to_do
    older, limit = cause.count - cause.may_heal, f"{format_length(longest)}, the longest that any took to heal"
    noun, comes = ("id", "comes") if cause.older_ids == 1 else ("ids", "come")
    if not cause.may_heal:
        all_are = "it is" if older == 1 else "all are"
        return f"Check where the {noun} {comes} from: {all_are} older than {limit}."
    young = "1 is" if cause.may_heal == 1 else f"{cause.may_heal:,} are"
    if not older:
        young = "it is" if cause.may_heal == 1 else "all are"
    wait = f"Wait: {young} younger than {limit}."
    return f"{wait} Check where the {noun} of the other {older:,} {comes} from." if older else wait


def advise_on_one(kind: str, first_reported_at: datetime | None, longest: timedelta | None, *, now: datetime) -> str:
    """Return what to do about one id with this diagnosis.

    first_reported_at: None if the id has no report.
    """
    if kind != "never-seen" or longest is None or first_reported_at is None or now - first_reported_at <= longest:
        return ADVICE[kind].to_do
    return f"O{_explain_age(longest)[1:]}"


def _explain_age(longest: timedelta) -> str:
    words = f"the longest ever took {format_length(longest)}"
    return f"older than any that healed ({words}): check where the id comes from."
