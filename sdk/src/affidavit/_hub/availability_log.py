"""Log once when the hub stops taking the reports of a reporter, and once when it takes them again."""

import logging
import time
from collections.abc import Callable

_WARN_EVERY = 60.0
"""The least seconds between two warnings, even if the hub takes only every second report."""


class Availability:
    """The state of the hub for one reporter.

    items: the name of the items, for the log: `outcomes`.
    """

    def __init__(self, items: str, log: logging.Logger, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._items, self._log, self._clock = items, log, clock
        self._has_warned = False
        self._next_warning = 0.0

    def note_failure(self, reason: object) -> None:
        """Note that nothing was delivered; the reports will be sent again."""
        if not self._has_warned and self._clock() >= self._next_warning:
            self._has_warned = True
            self._next_warning = self._clock() + _WARN_EVERY
            self._log.warning("%s are kept and sent again, since the hub does not take them: %s", self._items, reason)

    def note_answer(self) -> None:
        """Note that the hub has answered; log it if a warning came before."""
        if self._has_warned:
            self._has_warned = False
            self._log.warning("the hub can be reached again: %s are sent", self._items)
