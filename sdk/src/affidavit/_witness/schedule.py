"""When a live reporter reports: at an interval, soon when something is new, and less soon when there is always news."""

PROMPT = 1.0
"""Seconds after the first news, so that what comes with it goes with it."""
FIRST_GAP = 2.0
"""Seconds between two reports of news; doubled each time until an interval has passed without."""
RETRY = 15.0
"""Seconds until a report that was not taken is sent again, at most."""
LONGEST_ASKING = 60.0


class Schedule:
    """Of one process. Every time is in seconds of one clock that never goes back."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._shortest = min(FIRST_GAP, interval)
        self._gap = 0.0
        self._last: float | None = None
        self._due: float | None = None
        self._has_news = False
        self._ask_at: float | None = None
        self._ask_pause = min(PROMPT, interval)

    def something_waits(self, now: float) -> None:
        """There is something to report, sooner or later."""
        if self._due is None:
            self._due = now + self._interval

    def something_is_new(self, now: float) -> None:
        """There is something to report soon."""
        if not self._has_news:
            self._has_news = True
            earliest = now if self._last is None else self._last + self._gap
            self._due = min(self._due or now + self._interval, max(now + min(PROMPT, self._interval), earliest))

    def is_due(self, now: float) -> bool:
        """Whether to report now."""
        return self._due is not None and now >= self._due

    def reported(self, now: float) -> None:
        """Nothing waits any more."""
        doubled = min(2 * self._gap, self._interval) if self._has_news else 0.0
        self._gap = max(self._shortest, doubled)
        self._last, self._due, self._has_news = now, None, False

    def try_again(self, now: float) -> None:
        """What was to be reported still waits."""
        self._due = now + min(RETRY, self._interval)

    def may_ask(self, now: float) -> bool:
        """Whether the hub may be asked for its rules now."""
        return self._ask_at is None or now >= self._ask_at

    def asked(self) -> None:
        """It has told them."""
        self._ask_at = None

    def ask_later(self, now: float) -> None:
        """It could not tell them."""
        self._ask_at = now + self._ask_pause
        self._ask_pause = min(2 * self._ask_pause, LONGEST_ASKING)

    def pause(self, now: float) -> float | None:
        """Seconds until there is something to do, None when there is nothing."""
        moment = self._due if self._ask_at is None else self._ask_at  # without rules nothing else can be done
        return None if moment is None else max(0.0, moment - now)
