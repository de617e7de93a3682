"""Sum refused requests in memory, so that a process writes them once a second, however many there are."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import NamedTuple

WRITE_SECONDS = 1.0  # between two writes of a process; a killed process loses what it counted since


class Refusal(NamedTuple):
    """What is counted: the requests of one key to one endpoint that were refused with one code in one hour of UTC."""

    api_key_id: int
    endpoint: str
    code: str
    starts_at: datetime


@dataclass
class RefusalSum:
    """The number of refused requests, and when the first and the last of them were answered."""

    count: int
    first_at: datetime
    last_at: datetime


class RefusalCounter:
    """The refusals of one process that are not written yet."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sums: dict[Refusal, RefusalSum] = {}
        self._due_at = clock()
        self._lock = threading.Lock()

    def add(self, api_key_id: int, endpoint: str, code: str, *, now: datetime) -> None:
        """Count one refused request."""
        refusal = Refusal(api_key_id, endpoint, code, now.replace(minute=0, second=0, microsecond=0))
        with self._lock:
            total = self._sums.setdefault(refusal, RefusalSum(0, now, now))
            total.count += 1
            total.last_at = max(total.last_at, now)

    def take_due(self) -> Mapping[Refusal, RefusalSum]:
        """Return the sums that are to be written now, and forget them; {} within WRITE_SECONDS after the last write."""
        if not self._sums:  # nearly always; it needs no lock
            return {}
        with self._lock:
            now = self._clock()
            if now < self._due_at:
                return {}
            self._due_at = now + WRITE_SECONDS
            sums, self._sums = self._sums, {}
            return sums


@cache
def get_counter() -> RefusalCounter:
    """Return this process's counter."""
    return RefusalCounter()
