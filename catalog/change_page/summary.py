"""What the line below the title of a change says: how often it was observed, and what people decided (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Generic, Protocol, TypeVar

from catalog.change_kinds import KINDS_BY_TYPE, NOT_ALWAYS
from catalog.change_page.meaning_and_advice import StatusShare
from wire.format_numbers import count_noun


class CountedChange(Protocol):
    """A change with its counts: those of catalog.models.Drift."""

    part: str
    kind: str
    seen: int
    of: int | None
    acknowledged_at: datetime | None

    @property
    def pk(self) -> int: ...
    @property
    def matching_words(self) -> str: ...
    @property
    def last_day(self) -> date | None: ...


class CountedPresence(Protocol):
    """How often a field had something, of how many times."""

    @property
    def seen(self) -> int: ...
    @property
    def parents(self) -> int | None: ...


Change = TypeVar("Change", bound=CountedChange)


@dataclass(frozen=True)
class ChangeSummary(Generic[Change]):
    """What the line says.

    later: the latest change of the same field, if it is later.
    count: a count in words of the values with a new type, or of the calls with a new status; "" for other changes.
    has_values_before: whether the count of the values before a new type follows.
    has_counts: whether the counts of the detection follow.
    since_detection: how often the field had it since its detection; None if that is not known.
    absent_by_now: how often in a row a property was absent by now, if that is more than when it was detected; or 0.
    decision: what people decided.
    """

    later: Change | None
    count: str
    has_values_before: bool
    has_counts: bool
    since_detection: CountedPresence | None
    absent_by_now: int
    decision: str


def summarize_change(
    change: Change,
    *,
    story: Sequence[Change],
    share: StatusShare | None,
    values_since: CountedPresence | None,
    presence_since: CountedPresence | None,
    absent_now: int,
    is_muted: bool,
) -> ChangeSummary[Change]:
    """Return what the line says of a change.

    story: the other changes of the same field, the latest first.
    share: the calls that had the status, if the change is a new status.
    values_since, presence_since: since the detection, the values with a new type; the presence of a new property.
    absent_now: in how many objects in a row a property that is no longer seen was absent by now.
    """
    later = next((other for other in story[:1] if other.pk > change.pk), None)
    count, has_values_before, has_counts, since_detection = "", False, False, None
    if change.matching_words:
        count = f"{change.matching_words} in {count_noun(change.seen, 'value')} when detected"
        has_values_before, since_detection = True, values_since
    elif share:
        count, has_counts = f"{change.part} in {share.seen:,} of {count_noun(share.of, 'call')} {share.when}", True
    elif change.of and change.last_day is None and change.kind not in (*KINDS_BY_TYPE, NOT_ALWAYS):
        has_counts, since_detection = True, presence_since
    absent_by_now = absent_now if change.of is not None and absent_now > change.of else 0
    decision = "acknowledged" if change.acknowledged_at else "muted" if is_muted else "not acknowledged yet"
    return ChangeSummary(later, count, has_values_before, has_counts, since_detection, absent_by_now, decision)
