"""Run one action in two threads at the same moment, as a form does that is sent twice at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

from django.db import connections


def run_twice_at_once(act: Callable[[], object]) -> None:
    """Call `act` in two threads; raise what one of them raised."""
    barrier = threading.Barrier(2)
    failures: list[BaseException] = []

    def run() -> None:
        try:
            barrier.wait(30)
            act()
        except BaseException as error:  # raised below: a failure in a thread must fail the test
            failures.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if failures:
        raise failures[0]
