"""The background thread of a reporter: who wakes it, and how often it works."""

from __future__ import annotations

import threading
import time

from affidavit._hub.background import Background


class Rounds:
    """Counts the rounds of work of a background thread."""

    def __init__(self, *, delay: float = 0.0) -> None:
        self.count = 0
        self.has_worked = threading.Event()
        self.background = Background("rounds", self._work, lambda: None, delay=delay)

    def _work(self) -> None:
        self.count += 1
        self.has_worked.set()


def test_all_wakes_within_the_delay_share_one_round() -> None:
    rounds = Rounds(delay=0.3)
    rounds.background.start()
    for _ in range(50):
        rounds.background.wake()
        time.sleep(0.001)
    assert rounds.has_worked.wait(10)
    rounds.background.end(10)
    assert rounds.count == 2  # the shared round, and the last one at the end


def test_a_wake_during_a_round_starts_another_round() -> None:
    rounds = Rounds()
    is_inside, may_leave = threading.Event(), threading.Event()
    work = rounds._work

    def wait_inside() -> None:
        is_inside.set()
        assert may_leave.wait(10)
        work()

    rounds.background._work = wait_inside  # type: ignore[method-assign]  # to hold the thread within a round
    rounds.background.start()
    rounds.background.wake()
    assert is_inside.wait(10)
    is_inside.clear()
    rounds.background.wake()
    may_leave.set()
    assert is_inside.wait(10)
    rounds.background.end(10)


def test_a_flush_does_not_wait_for_the_delay() -> None:
    rounds = Rounds(delay=60)
    rounds.background.start()
    rounds.background.wake()
    assert rounds.background.flush(10)
    assert rounds.count == 1
    rounds.background.end(10)


def test_ending_does_not_wait_for_the_delay() -> None:
    rounds = Rounds(delay=60)
    rounds.background.start()
    rounds.background.wake()
    time.sleep(0.05)
    rounds.background.end(10)
    assert rounds.count == 1
