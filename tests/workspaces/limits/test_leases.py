"""Any number of processes that lease tokens together let at most rate * t + burst requests pass."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import example, given, settings
from hypothesis import strategies as st

from workspaces.limits.leases import LEASE_SECONDS, Bucket, Lease, Limit, grant_tokens
from workspaces.limits.limiter import Limiter

RATES = st.sampled_from([1, 2, 3, 7, 10, 40, 50, 1000])


@dataclass
class SharedBucket:
    """A simulated bucket.

    time: the clock of all processes.
    delay: how long an answer of the bucket takes.
    """

    time: float = 0.0
    delay: float = 0.0
    bucket: Bucket | None = None
    questions: int = 0
    passed: list[float] = field(default_factory=list)

    def grant(self, bucket_name, limit, wanted):
        self.questions += 1
        self.bucket, grant = grant_tokens(self.bucket, limit, wanted, self.time)
        self.time += self.delay
        return grant


def count_most(times: list[float], seconds: float) -> int:
    """Return the largest number of times within any window of this length, both ends included."""
    most = start = 0
    for end, time in enumerate(times):
        while time - times[start] > seconds:
            start += 1
        most = max(most, end - start + 1)
    return most


@settings(max_examples=300, deadline=None)
@given(
    rate=RATES,
    processes=st.integers(1, 8),
    delay=st.sampled_from([0.0, 0.002, 0.03]),
    requests=st.lists(
        st.tuples(st.integers(0, 7), st.integers(1, 80), st.sampled_from([0.0, 0.0005, 0.02, 0.1, 0.24, 0.26, 1.5])),
        max_size=60,
    ),
)
@example(rate=1000, processes=8, delay=0.0, requests=[(n % 8, 80, 0.005) for n in range(400)])
def test_at_most_rate_times_t_plus_burst_requests_pass(rate, processes, delay, requests):
    shared, limit = SharedBucket(delay=delay), Limit("key", rate)
    limiters = [Limiter(shared, clock=lambda: shared.time) for _ in range(processes)]
    for process, count, pause in requests:
        for _ in range(count):
            asked_at = shared.time
            if limiters[process % processes].take("key:1", limit):
                shared.passed.append(asked_at)
        shared.time += pause
    for seconds in (0, 0.01, 0.1, 0.3, 1, 2.5, 10):
        assert count_most(shared.passed, seconds) <= rate * seconds + max(1, rate) + 1e-6


@given(rate=RATES)
def test_a_client_below_the_rate_is_never_refused(rate):
    shared, limit = SharedBucket(), Limit("key", rate)
    limiter = Limiter(shared, clock=lambda: shared.time)
    for _ in range(3 * rate):
        assert limiter.take("key:1", limit)
        shared.time += 1.02 / rate  # slightly below the rate, because the tokens of a lease that expires are lost


@given(rate=st.sampled_from([1, 2, 5, 10, 20, 50, 100]), processes=st.integers(1, 6))
def test_a_client_that_paused_may_send_the_requests_of_a_second_at_once(rate, processes):
    shared, limit = SharedBucket(), Limit("key", rate)
    limiters = [Limiter(shared, clock=lambda: shared.time) for _ in range(processes)]
    for _ in range(3):
        assert all(limiters[request % processes].take("key:1", limit) for request in range(rate))
        assert not limiters[0].take("key:1", limit)
        shared.time += 1.01


@given(rate=st.sampled_from([10, 50, 1000]), processes=st.integers(1, 6))
def test_clients_that_always_ask_together_get_nearly_the_whole_rate(rate, processes):
    shared, limit = SharedBucket(), Limit("key", rate)
    limiters = [Limiter(shared, clock=lambda: shared.time) for _ in range(processes)]
    seconds = 4
    while shared.time < seconds:
        for limiter in limiters:
            while limiter.take("key:1", limit):
                shared.passed.append(shared.time)
        shared.time += 0.01
    assert rate * seconds * 0.9 <= len(shared.passed) <= rate * (seconds + 1)


def test_a_process_asks_the_bucket_rarely_whether_busy_or_refused():
    shared, limit = SharedBucket(), Limit("key", 1000)
    limiter = Limiter(shared, clock=lambda: shared.time)
    for _ in range(5000):  # five times the rate, for one second
        limiter.take("key:1", limit)
        shared.time += 0.0002
    assert shared.questions < 100


def test_an_unused_lease_expires():
    lease, limit = Lease(), Limit("key", 1000)
    shared = SharedBucket()
    assert lease.add(shared.grant("key:1", limit, 100), limit, block=100, asked_at=0.0)
    assert lease.spend(LEASE_SECONDS - 0.01)
    assert not lease.spend(LEASE_SECONDS)


@given(
    rate=RATES,
    tokens=st.floats(0, 1000),
    wanted=st.integers(1, 200),
    times=st.lists(st.floats(-5, 5), max_size=20),
)
def test_a_clock_that_jumps_neither_overfills_a_bucket_nor_empties_it_for_long(rate, tokens, wanted, times):
    limit, now = Limit("key", rate), 1000.0
    bucket = Bucket(min(tokens, limit.capacity), now)
    for step in times:
        now += step
        bucket, grant = grant_tokens(bucket, limit, wanted, now)
        assert 0 <= bucket.tokens <= limit.capacity
        assert bucket.refilled_at <= now + 1
        assert 0 <= grant.tokens <= wanted
