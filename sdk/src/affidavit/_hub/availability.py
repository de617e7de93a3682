"""Whether the hub takes what a reporter sends: log once when delivery stops, and once when it goes on."""

import logging
import time
from collections.abc import Callable

_WARN_EVERY = 60.0
"""Seconds between two warnings at least, also if the hub takes every second report only."""


class Availability:
    """The state of the hub for one reporter. items: the name of the items, for the log: `outcomes`."""

    def __init__(self, items: str, log: logging.Logger, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._items, self._log, self._clock = items, log, clock
        self._has_warned = False
        self._next_warning = 0.0

    def note_failure(self, reason: object) -> None:
        """Nothing was delivered, and it will be sent again."""
        if not self._has_warned and self._clock() >= self._next_warning:
            self._has_warned = True
            self._next_warning = self._clock() + _WARN_EVERY
            self._log.warning("%s are kept and sent again, since the hub does not take them: %s", self._items, reason)

    def note_answer(self) -> None:
        """Note that the hub has answered; log it if a warning came before."""
        if self._has_warned:
            self._has_warned = False
            self._log.warning("the hub can be reached again: %s are sent", self._items)
