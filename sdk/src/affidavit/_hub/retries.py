"""How often, and for how long, a request to the hub is tried again (contract §1)."""

from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from .responses import HubAnswer


@dataclass(frozen=True, slots=True)
class Retry:
    """The limits of retries: at most `attempts` tries, none started later than `total` seconds after the first.

    attempts: None for any number of tries; then the last try begins `total` seconds after the first, unless a
        Retry-After header asks for a longer wait.

    The n-th wait, counted from 0, is random between 0 and min(longest, first * 2^n) seconds ("full jitter"), plus the
    seconds of a Retry-After header.
    """

    attempts: int | None = 5
    first: float = 0.5
    longest: float = 8.0
    total: float = 60.0

    def choose_wait(self, attempt: int, retry_after: float, remaining: float, *, chance: float) -> float | None:
        """Return the seconds to wait before the next try; None if there is no next try.

        attempt: the number of the last try, counted from 0.
        remaining: seconds until no try may start any more.
        chance: a random number between 0 and 1.
        """
        jitter = chance * min(self.longest, self.first * 2 ** min(attempt, 30))
        if self.attempts is None:
            is_last = remaining <= 0 or retry_after > remaining
            return None if is_last else min(retry_after + jitter, remaining)
        is_last = attempt + 1 >= self.attempts or retry_after + jitter > remaining
        return None if is_last else retry_after + jitter


FOR_A_MINUTE = Retry(attempts=None)
"""The retries of `report_outcomes` and `send_observations`, which wait until the hub has taken what they send."""


def read_retry_after(answer: HubAnswer, now: float) -> float:
    """Return the seconds of a Retry-After header, which is a number or a date; 0 without one.

    now: Unix seconds.
    """
    text = answer.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError):
        return 0.0
