"""Share a token bucket among processes: they lease tokens in blocks, and a lease that is not used soon expires.

Whatever the number of processes, at most rate * t + burst requests pass in any t seconds; the burst is as many requests
as pass in one second. A lease may be used up to LEASE_SECONDS after the bucket gave it, so a bucket that gives leases
holds `rate * LEASE_SECONDS` tokens less than the burst. Up to LARGEST_EXACT_RATE, a bucket gives single tokens, which
are used at once, and holds the whole burst.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

LEASE_SECONDS = 0.25
REFUSAL_SECONDS = 0.05  # how long a process does not ask again after a refusal
LARGEST_EXACT_RATE = 100  # asking the bucket this often in a second costs little


@dataclass(frozen=True)
class Limit:
    """A limit of `rate` requests a second, with a burst of as many requests.

    name: the name of the policy, for headers.
    """

    name: str
    rate: int

    @property
    def is_exact(self) -> bool:
        return self.rate <= LARGEST_EXACT_RATE

    @property
    def capacity(self) -> float:
        return float(self.rate) if self.is_exact else self.rate * (1 - LEASE_SECONDS)

    @property
    def largest_block(self) -> int:
        return 1 if self.is_exact else self.rate // 10


@dataclass(frozen=True)
class Bucket:
    """The tokens that a bucket had at the time `refilled_at`, in seconds of the clock that all processes share."""

    tokens: float
    refilled_at: float


@dataclass(frozen=True)
class Grant:
    """The number of tokens that a process may use, and the number of those left in the bucket."""

    tokens: int
    bucket_level: float


def grant_tokens(bucket: Bucket | None, limit: Limit, max_tokens: int, now: float) -> tuple[Bucket, Grant]:
    """Refill the bucket and take at most `max_tokens` whole tokens out; without a bucket, begin with a full one.

    The stores do the same in SQL and Lua. If the clock goes back by more than a second, nothing is refilled, and the
    bucket goes on from the new time.
    """
    if bucket is None:
        level, refilled_at = limit.capacity, now
    else:
        level = min(limit.capacity, bucket.tokens + limit.rate * max(0.0, now - bucket.refilled_at))
        refilled_at = now if bucket.refilled_at > now + 1 else max(now, bucket.refilled_at)
    tokens = max(0, min(max_tokens, math.floor(level)))
    return Bucket(level - tokens, refilled_at), Grant(tokens, level - tokens)


@dataclass
class Lease:
    """The tokens of one bucket that one process may use. Times are seconds of the process's own clock.

    block: how many tokens the process asked for last. It asks for twice as many if it used all of them in time.
    """

    tokens: int = 0
    expires_at: float = -math.inf
    refused_until: float = -math.inf
    block: int = 0

    def spend(self, now: float) -> bool:
        """Use one token; return False if there is none, or if the lease has expired."""
        if now >= self.expires_at:
            self.tokens = self.block = 0
        if not self.tokens:
            return False
        self.tokens -= 1
        return True

    def choose_block(self, limit: Limit) -> int:
        return min(limit.largest_block, max(1, 2 * self.block))

    def add(self, grant: Grant, limit: Limit, *, block: int, asked_at: float) -> bool:
        """Add the granted tokens and use one of them; return False if none was granted.

        asked_at: when the bucket was asked, so that the lease ends no later than the bucket expects.
        """
        if not grant.tokens:
            missing_seconds = (1 - grant.bucket_level) / limit.rate
            self.refused_until = asked_at + max(REFUSAL_SECONDS, missing_seconds)
            return False
        expires_at = asked_at + LEASE_SECONDS
        # Another thread may have added tokens: all of them may be used until the first of the leases expires.
        self.expires_at = min(self.expires_at, expires_at) if self.tokens else expires_at
        self.tokens += grant.tokens - 1
        self.block = block
        return True
