"""A process that ends with its parent, however the parent ends (Linux: prctl; elsewhere it has no effect)."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable

PR_SET_PDEATHSIG = 1


def build_parent_watch(number: signal.Signals = signal.SIGTERM) -> Callable[[], None]:
    """Return a function that a new process calls first. The process then gets this signal when its parent ends.

    The thread that starts the process must live as long as the process, because the system watches threads.
    """
    libc, parent = (ctypes.CDLL(None) if sys.platform == "linux" else None), os.getpid()

    def watch_parent() -> None:
        if libc is not None:
            libc.prctl(PR_SET_PDEATHSIG, int(number))
            if os.getppid() != parent:  # the parent ended before the system watched it
                os.kill(os.getpid(), number)

    return watch_parent
