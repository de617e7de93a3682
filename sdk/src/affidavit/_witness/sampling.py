"""Sample the bodies of an operation: all until nothing new is seen, then fewer and fewer (contract §4)."""

SETTLED = 25
"""So many inspections without news settle a shape and halve the rate; as many again halve the rate again."""
LONGEST_STRIDE = 64
AT_MOST_EVERY = 0.1
"""Seconds between two inspections at the lowest rate. Without it, a busy operation would be inspected hundreds of times
a second, though nothing of it is new."""
AT_LEAST_EVERY = 60.0
"""Seconds; after a longer gap a request is always inspected."""


class Pace:
    """The sampling rate of one `Operation`. Requests that are not inspected are counted all the same."""

    __slots__ = ("_due", "_earliest", "_looks_without_news", "_skip_count", "_stride")

    def __init__(self) -> None:
        self._stride = 1
        self._skip_count = self._looks_without_news = 0
        self._earliest = self._due = 0.0

    def admits(self, now: float) -> bool:
        """Return whether to inspect this request.

        now: monotonic seconds.
        """
        if self.skips(now):
            return False
        self._skip_count, self._due = 0, now + AT_LEAST_EVERY
        self._earliest = now + AT_MOST_EVERY if self._stride == LONGEST_STRIDE else now
        return True

    def skips(self, now: float) -> bool:
        """Return whether this request need not be inspected; if so, count it as skipped.

        If it must be inspected, call `admits` for it.
        """
        if now < self._due and (self._skip_count + 1 < self._stride or now < self._earliest):
            self._skip_count += 1
            return True
        return False

    def adjust(self, *, news: bool) -> None:
        """Adjust the rate to the result of one inspection."""
        if news:
            self._stride, self._earliest, self._looks_without_news = 1, 0.0, 0
            return
        self._looks_without_news += 1
        if self._looks_without_news >= SETTLED:
            self._stride, self._looks_without_news = min(2 * self._stride, LONGEST_STRIDE), 0
