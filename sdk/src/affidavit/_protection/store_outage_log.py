"""Log that calls are answered 503 while a store cannot be reached: one line in some seconds."""

import logging
from collections.abc import Callable

from affidavit._errors import StoreUnavailable

_LOG_EVERY = 10
"""Seconds between two equal log lines."""

_log = logging.getLogger("affidavit.protection")


class StoreOutageLog:
    """The log of the outages of one protection's stores.

    now: the clock of the protection, in Unix seconds.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._next_log_at = 0.0

    def note_failure(self, fault: StoreUnavailable) -> None:
        """Log one line per `_LOG_EVERY` seconds at most: an outage must not fill the log."""
        if self._now() >= self._next_log_at:
            self._next_log_at = self._now() + _LOG_EVERY
            _log.error("calls are answered 503: %s", fault.describe())
