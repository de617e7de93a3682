"""The counter sums refusals in memory, and returns them to be written once a second at most."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Thread

from workspaces.refusals.counter import WRITE_SECONDS, Refusal, RefusalCounter, RefusalSum

HOUR = datetime(2027, 1, 31, 12, tzinfo=UTC)
FIRST, LAST = HOUR + timedelta(minutes=1), HOUR + timedelta(minutes=59)


class Clock:
    seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_the_first_refusal_is_due_at_once_and_the_next_ones_a_second_later():
    clock = Clock()
    counter = RefusalCounter(clock)
    counter.add(1, "POST /a", "invalid-json", now=FIRST)
    assert counter.take_due() == {Refusal(1, "POST /a", "invalid-json", HOUR): RefusalSum(1, FIRST, FIRST)}
    assert counter.take_due() == {}
    counter.add(1, "POST /a", "invalid-json", now=FIRST)
    counter.add(1, "POST /a", "invalid-json", now=LAST)
    counter.add(1, "POST /a", "invalid-json", now=FIRST)
    assert counter.take_due() == {}
    clock.seconds += WRITE_SECONDS
    assert counter.take_due() == {Refusal(1, "POST /a", "invalid-json", HOUR): RefusalSum(3, FIRST, LAST)}
    clock.seconds += WRITE_SECONDS
    assert counter.take_due() == {}


def test_each_key_endpoint_code_and_hour_has_a_sum_of_its_own():
    counter = RefusalCounter()
    for key_id, endpoint, code, now in (
        (1, "POST /a", "invalid-json", FIRST), (2, "POST /a", "invalid-json", FIRST),
        (1, "POST /b", "invalid-json", FIRST), (1, "POST /a", "rate-limited", FIRST),
        (1, "POST /a", "invalid-json", FIRST + timedelta(hours=1)),
    ):  # fmt: skip
        counter.add(key_id, endpoint, code, now=now)
    assert [total.count for total in counter.take_due().values()] == [1] * 5


def test_refusals_of_several_threads_are_each_counted_once():
    counter = RefusalCounter()
    taken = []

    def refuse() -> None:
        for _ in range(500):
            counter.add(1, "POST /a", "invalid-json", now=FIRST)
            taken.extend(total.count for total in counter.take_due().values())

    threads = [Thread(target=refuse) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counter._due_at = 0.0
    assert sum(taken) + sum(total.count for total in counter.take_due().values()) == 2000
