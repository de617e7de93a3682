"""Run one action in two threads at the same moment, as a form does that is sent twice at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from django.db import connections


def run_twice_at_once(act: Callable[[], Any]) -> list[Any]:
    """Call `act` in two threads and return both results; raise what one of them raised."""
    barrier = threading.Barrier(2)
    results: list[Any] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            barrier.wait(30)
            results.append(act())
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
    return results
