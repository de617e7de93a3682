"""Call a function at the same moment in many threads of several processes."""

import multiprocessing
import threading
from collections.abc import Callable

PROCESSES, THREADS = 4, 16


def count_passes_at_once(call: Callable[[], bool]) -> int:
    """Return how many of 64 simultaneous calls, from 16 threads in each of 4 forked processes, return True."""
    context = multiprocessing.get_context("fork")
    passed, start = context.Value("i", 0), context.Barrier(PROCESSES * THREADS)

    def call_once() -> None:
        start.wait(60)
        if call():
            with passed.get_lock():
                passed.value += 1

    def work() -> None:
        threads = [threading.Thread(target=call_once) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    workers = [context.Process(target=work) for _ in range(PROCESSES)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * PROCESSES
    return int(passed.value)
