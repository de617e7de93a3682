"""Happenings, which fire alerts, and the measures that rules compare with thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

EVER = timedelta(days=100_000)


@dataclass(frozen=True)
class Happening:
    """Something that fires an alert.

    subject: its topic, such as a reason of rejections.
    at: when it fires the alert.
    gap: two happenings of one subject that are less than this apart are the same happening, because late reports move
        its time.
    until: when it ended; None while it lasts or if it has no duration.
    last: the last moment that is known to belong to it, by default `at`. Late reports can show that a happening began
        hours before it was noticed. So an event (a happening that was stored when it fired) that is not after `last`,
        or less than `gap` after it, is the same happening.
    facts: JSON for people and machines.
    """

    subject: str
    at: datetime
    gap: timedelta = EVER
    until: datetime | None = None
    last: datetime | None = field(default=None, compare=False)
    facts: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def key(self) -> str:
        """Return the identity of the happening, under which it is stored once."""
        return f"{self.subject}@{self.at.astimezone(UTC).isoformat()}"

    def is_same_as(self, event_at: datetime) -> bool:
        """Return whether an event with the same subject and this time is this happening."""
        return self.at - self.gap < event_at < (self.last or self.at) + self.gap


class Measure(NamedTuple):
    """A value that a rule compares with its threshold, and the moment that the value belongs to.

    share, usual: for jumps, the share at that moment and the usual share, each between 0 and 1.
    reporter: for silences, the name of the silent reporter, "" for one without a name.
    """

    moment: datetime
    value: float
    share: float | None = None
    usual: float | None = None
    reporter: str | None = None
