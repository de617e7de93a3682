"""The thresholds at which an alert fires (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class Thresholds:
    """The numbers of an alert; each kind of alert uses some of them.

    minutes: the length of the span that is judged.
    minimum: the least number of cases, so that small numbers do not fire the alert.
    percent: the least share of cases in the total, in percent.
    factor: the least multiple of the usual share.
    """

    minutes: int = 60
    minimum: int = 20
    percent: float = 1
    factor: float = 3

    @property
    def length(self) -> timedelta:
        return timedelta(minutes=self.minutes)
