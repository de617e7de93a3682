"""Schedule live reports: at an interval, soon after news, and less soon when news never ends (contract §4).

They are also sooner while the room for new operations is filling up.
"""

INTERVAL = 60.0
"""Seconds between two reports while nothing is new, unless the app says otherwise."""
PROMPT = 1.0
"""Seconds to wait after the first news, so that what follows is in the same report."""
_FIRST_GAP = 2.0
"""Seconds between two reports of news; doubled each time until an interval passes without news."""
_PAUSE_RATIO = 10
"""How much longer than the last report the pause is, if the room for new operations is filling up."""
_RETRY_AFTER = 15.0
"""Seconds until an undelivered report is sent again, at most."""
_LONGEST_RULES_PAUSE = 60.0


class Schedule:
    """The schedule of one process. All times are monotonic seconds."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._shortest = min(_FIRST_GAP, interval)
        self._gap = 0.0
        self._last: float | None = None
        self._duration = 0.0
        self._due: float | None = None
        self._has_news = False
        self._rules_due: float | None = None
        self._rules_pause = min(PROMPT, interval)

    def note_pending(self, now: float) -> None:
        """Note that something is pending: report within the interval."""
        if self._due is None:
            self._due = now + self._interval

    def note_news(self, now: float) -> None:
        """Note that something new is pending: report soon."""
        if not self._has_news:
            self._has_news = True
            earliest = now if self._last is None else self._last + self._gap
            self._due = min(self._due or now + self._interval, max(now + min(PROMPT, self._interval), earliest))

    def note_crowding(self, now: float) -> None:
        """Note that the room for new operations fills up: report soon, but spend little time on such reports."""
        earliest = now if self._last is None else self._last + max(self._shortest, _PAUSE_RATIO * self._duration)
        self._due = min(self._due or now + self._interval, max(now, earliest))

    def is_due(self, now: float) -> bool:
        """Return whether to report now."""
        return self._due is not None and now >= self._due

    def note_report(self, now: float) -> None:
        """Note that a report was made: nothing is pending."""
        longer_gap = min(2 * self._gap, self._interval) if self._has_news else 0.0
        self._gap = max(self._shortest, longer_gap)
        self._last, self._due, self._has_news = now, None, False

    def note_sent(self, now: float) -> None:
        """Note that the report was sent, or could not be."""
        self._duration = now - (self._last or now)

    def retry_later(self, now: float) -> None:
        """Schedule a retry of a report that was not delivered."""
        self._due = now + min(_RETRY_AFTER, self._interval)

    def may_fetch_rules(self, now: float) -> bool:
        """Return whether to fetch the hub's rules now."""
        return self._rules_due is None or now >= self._rules_due

    def note_rules(self) -> None:
        """Note that the hub's rules were fetched."""
        self._rules_due = None

    def fetch_rules_later(self, now: float) -> None:
        """Schedule a retry, after a growing pause, of fetching the hub's rules."""
        self._rules_due = now + self._rules_pause
        self._rules_pause = min(2 * self._rules_pause, _LONGEST_RULES_PAUSE)

    def pause(self, now: float) -> float | None:
        """Return the seconds until there is something to do; None if there is nothing."""
        moment = self._due if self._rules_due is None else self._rules_due  # without rules nothing else can be done
        return None if moment is None else max(0.0, moment - now)
