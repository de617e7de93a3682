"""How often an operation's bodies are looked at: always until nothing new is seen, then less and less (contract 4)."""

SETTLED = 25
"""So many looks without news settle a shape; so many more halve the rate again."""
LONGEST_STRIDE = 64
AT_LEAST_EVERY = 60.0
"""Seconds; a rare request is always looked at."""


class Pace:
    """Of one operation and status. Requests that are not looked at are counted all the same."""

    __slots__ = ("_due", "_passed", "_quiet", "_stride")

    def __init__(self) -> None:
        self._stride = 1
        self._passed = self._quiet = 0
        self._due = 0.0

    def wants(self, now: float) -> bool:
        """Whether this request is to be looked at. now: seconds of any clock that only goes forward."""
        self._passed += 1
        if self._passed < self._stride and now < self._due:
            return False
        self._passed, self._due = 0, now + AT_LEAST_EVERY
        return True

    def looked(self, *, news: bool) -> None:
        """Takes in what a look came to."""
        if news:
            self._stride, self._quiet = 1, 0
            return
        self._quiet += 1
        if self._quiet >= SETTLED:
            self._stride, self._quiet = min(2 * self._stride, LONGEST_STRIDE), 0
