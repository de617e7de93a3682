"""Sample the bodies of an operation: all until nothing new is seen, then fewer and fewer (contract §4)."""

SETTLED = 25
"""So many inspections without news settle a shape and halve the rate; as many again halve the rate again."""
LONGEST_STRIDE = 64
AT_LEAST_EVERY = 60.0
"""Seconds; after a longer gap a request is always inspected."""


class Pace:
    """The sampling rate of one `Operation`. Requests that are not inspected are counted all the same."""

    __slots__ = ("_due", "_looks_without_news", "_skip_count", "_stride")

    def __init__(self) -> None:
        self._stride = 1
        self._skip_count = self._looks_without_news = 0
        self._due = 0.0

    def admits(self, now: float) -> bool:
        """Return whether to inspect this request.

        now: monotonic seconds.
        """
        self._skip_count += 1
        if self._skip_count < self._stride and now < self._due:
            return False
        self._skip_count, self._due = 0, now + AT_LEAST_EVERY
        return True

    def skips(self, now: float) -> bool:
        """Return whether this request need not be inspected; if so, count it as skipped.

        If it must be inspected, call `admits` for it.
        """
        if self._skip_count + 1 < self._stride and now < self._due:
            self._skip_count += 1
            return True
        return False

    def adjust(self, *, news: bool) -> None:
        """Adjust the rate to the result of one inspection."""
        if news:
            self._stride, self._looks_without_news = 1, 0
            return
        self._looks_without_news += 1
        if self._looks_without_news >= SETTLED:
            self._stride, self._looks_without_news = min(2 * self._stride, LONGEST_STRIDE), 0
