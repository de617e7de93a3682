"""What all reporters have in common: they send in the background, and log what they lose."""

import logging
from abc import ABC, abstractmethod

EXIT_PATIENCE = 3.0
"""Seconds that the end of a process waits for unsent reports."""


class Reporter(ABC):
    """Keeps reports until they are sent. It is reset in a forked child, and settled when the process ends.

    exit_timeout: seconds that the end of the process waits for it.
    _noun, _logger: what one item is called in the log, and the log.
    """

    exit_timeout = EXIT_PATIENCE
    _noun: str
    _logger: logging.Logger
    _announced_loss = 0

    @abstractmethod
    def _reset(self) -> None:
        """Start with nothing unsent. A forked child does so too, because the parent sends its own reports."""

    @abstractmethod
    def _hurry(self) -> None:
        """Begin to send all that is unsent, and return at once."""

    @abstractmethod
    def _count_unsent(self) -> int:
        """Return how many items would be lost if the process ended now."""

    @abstractmethod
    def flush(self, timeout: float) -> bool:
        """Send all that is unsent. Return whether that took no more than `timeout` seconds."""

    @abstractmethod
    def close(self, timeout: float) -> object:
        """Send all that is unsent within `timeout` seconds, and accept no more."""

    def _settle(self, timeout: float) -> None:
        """Send all that is unsent, and log what could not be sent: the process may end now."""
        if self._count_unsent():
            self.flush(timeout)
            self._announce_loss(self._count_unsent())

    def _announce_loss(self, count: int) -> None:
        """Log a loss, unless `_settle` logged the same loss before, when the process was likely to end."""
        if count and count != self._announced_loss:
            self._log_loss(count, "the process ended before the delivery")
        self._announced_loss = count

    def _log_loss(self, count: int, reason: object, level: int = logging.WARNING) -> None:
        items = f"1 {self._noun} was" if count == 1 else f"{count} {self._noun}s were"
        self._logger.log(level, "%s not reported: %s", items, reason)
